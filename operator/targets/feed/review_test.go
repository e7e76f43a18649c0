package feed

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// reviewed is a server without network, with one pod.
func reviewed() (s *Server, c *cluster, text string) {
	c = &cluster{pods: map[types.NamespacedName]*corev1.Pod{}, tokens: map[string]token{}}
	s = &Server{Feed: New(), Identity: Identity{c, c}, Log: slog.New(slog.DiscardHandler)}
	text = c.run("monitoring", "prometheus-k8s", "prometheus")
	s.Feed.SetOwners(map[types.NamespacedName]Owner{{Namespace: "monitoring", Name: "prometheus-k8s"}: {Shard: shard0, ServiceAccount: "prometheus"}})
	s.Feed.Apply(time.Now(), shard0, []Change{jobOf("zero", 3)})
	s.Feed.Lead(7)
	return s, c, text
}

// ran is a response that is read at once.
type ran struct {
	blocked
	written func()
}

func (r *ran) Write(p []byte) (int, error) {
	if r.written != nil {
		r.written()
	}
	return len(p), nil
}

// The stream of a token that is revoked or has expired, or whose pod is gone, ends within two minutes. The stream stays open
// while the API server does not respond.
func TestStreamOfARevokedToken(t *testing.T) {
	for name, refuse := range map[string]func(c *cluster, token string){
		"revoked":  func(c *cluster, token string) { delete(c.tokens, token) },
		"pod gone": func(c *cluster, _ string) { clear(c.pods) },
		"pod ended": func(c *cluster, _ string) {
			ended := onlyPod(c).DeepCopy()
			ended.Status.Phase = corev1.PodFailed
			c.pods[types.NamespacedName{Namespace: ended.Namespace, Name: ended.Name}] = ended
		},
		"another account": func(c *cluster, text string) {
			c.tokens[text] = token{"system:serviceaccount:monitoring:other", onlyPod(c).Name, onlyPod(c).UID, Audience}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c, token := reviewed()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				done := make(chan struct{})
				go func() {
					defer close(done)
					request, _ := http.NewRequestWithContext(ctx, http.MethodGet, Path, nil)
					request.RemoteAddr, request.Header = "10.0.0.1:1", http.Header{"Authorization": {"Bearer " + token}}
					s.ServeHTTP(&ran{blocked: blocked{header: http.Header{}}}, request)
				}()
				open := func() bool {
					synctest.Wait()
					select {
					case <-done:
						return false
					default:
						return true
					}
				}
				time.Sleep(5 * time.Minute)
				if n := c.reviewed.Load(); !open() || n < 5 || n > 7 {
					t.Fatalf("after 5 minutes: open %t, %d reviews", open(), n)
				}
				c.change(func() { c.broken = apierrors.NewInternalError(fmt.Errorf("down")) })
				time.Sleep(10 * time.Minute)
				if !open() {
					t.Fatal("the stream ends because reviews are not answered")
				}
				c.change(func() {
					c.broken = nil
					refuse(c, token)
				})
				time.Sleep(2 * time.Minute)
				if open() {
					t.Error("the stream goes on")
				}
			})
		})
	}
}

// onlyPod returns the only pod.
func onlyPod(c *cluster) *corev1.Pod {
	for _, p := range c.pods {
		return p
	}
	return nil
}

// The reviews of thousands of streams are few per second, and none is left out.
func TestReviewsOfManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c, token := reviewed()
		ctx, stop := context.WithCancel(t.Context())
		var all []*stream
		for range maxStreams {
			st := &stream{server: s, ended: make(chan struct{})}
			st.caller, _ = s.Identity.caller(ctx, s.Feed, token)
			all = append(all, st)
			go s.review(ctx, st, token)
		}
		before, minutes := c.reviewed.Load(), 60
		time.Sleep(time.Duration(minutes) * time.Minute)
		most := int32(time.Duration(minutes) * time.Minute / reviewPause)
		if n := c.reviewed.Load() - before; n > most || n < most*9/10 {
			t.Errorf("%d reviews in %d minutes, want up to %d", n, minutes, most)
		}
		c.change(func() { delete(c.tokens, token) })
		time.Sleep(reviewEvery + 2*maxStreams*reviewPause)
		for _, st := range all {
			select {
			case <-st.ended:
			default:
				t.Fatal("a stream goes on")
			}
		}
		stop()
	})
}

// A stream can be ended while its list changes faster than the client reads.
func TestStreamWithEndlessChangesEnds(t *testing.T) {
	s := serve(t)
	st := &stream{server: s.Server, caller: caller{shard: shard0}, since: time.Now(), ended: make(chan struct{})}
	n := 0
	st.run(t.Context(), &ran{blocked: blocked{header: http.Header{}}, written: func() {
		n++
		s.Feed.Apply(time.Now(), shard0, []Change{jobOf("churn", n%7)})
		switch {
		case n == 100:
			st.end()
		case n > 200:
			s.Feed.Lead(0)
		}
	}})
	if n > 110 {
		t.Error("the stream went on")
	}
}

// A Prometheus gets the list of no other one, whatever it asks for: names in paths, queries, headers and methods have no effect.
func TestRequestsForAnothersJobs(t *testing.T) {
	s := serve(t)
	s.Feed.SetOwners(map[types.NamespacedName]Owner{
		{Namespace: "monitoring", Name: "prometheus-k8s"}: {Shard: shard0, ServiceAccount: "prometheus"},
		{Namespace: "tenant", Name: "prometheus-k8s"}:     {Shard: Shard{Workload: catalog.Ref{Kind: "Prometheus", Namespace: "tenant", Name: "k8s"}}, ServiceAccount: "prometheus"},
	})
	tenant := s.cluster.run("tenant", "prometheus-k8s", "prometheus")
	s.Feed.Apply(time.Now(), Shard{Workload: catalog.Ref{Kind: "Prometheus", Namespace: "tenant", Name: "k8s"}}, []Change{jobOf("own", 1)})
	for _, tc := range []struct {
		method, path string
		code         int
	}{
		{"GET", Path + "?have=7-999999999", 200},
		{"GET", Path + "?have=7-1&have=7-2&shard=0&workload=monitoring/k8s&namespace=monitoring", 200},
		{"GET", Path + "?have=%00", 400},
		{"GET", Path + "?have=-1--1", 400},
		{"GET", Path + "?have=99999999999999999999999-1", 400},
		{"GET", Path + "/", 404},
		{"GET", Path + "/monitoring/k8s", 404},
		{"GET", "/v1/%61ssignments/../assignments", 307}, // to the clean path
		{"GET", "//v1/assignments", 307},
		{"POST", Path, 405},
		{"DELETE", Path, 405},
		{"OPTIONS", Path, 405},
		{"CONNECT", Path, 405},
		{"GET", "/v1/reports", 405},
		{"GET", "/v1/inventory", 405},
		{"PUT", "/v1/inventory", 405},
	} {
		request, err := http.NewRequestWithContext(t.Context(), tc.method, s.url+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Authorization": {"Bearer " + tenant, "Bearer " + s.shard[0]}, "X-Forwarded-For": {"10.1.1.1"}, "Impersonate-User": {"system:serviceaccount:monitoring:prometheus"}}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != tc.code {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, response.StatusCode, tc.code)
		}
		if response.StatusCode == http.StatusOK {
			var c follower
			c.follow(t, bufio.NewReader(response.Body), 1)
			if len(c.jobs) != 1 || c.jobs["own"] == "" {
				t.Errorf("%s: jobs %v", tc.path, c.jobs)
			}
		}
		response.Body.Close()
	}
}
