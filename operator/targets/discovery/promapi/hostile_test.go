package promapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

var somePod = Server{Namespace: "demo", Pod: "main-0", Scheme: "http", Port: 9090}

// behind returns access to a pod with a token.
func behind(t *testing.T, answer http.HandlerFunc) Cluster {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	kube, err := Client(&rest.Config{Host: srv.URL, BearerToken: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	return Cluster{Kube: kube}
}

// A redirect by a pod is not followed: the token of the caller would be sent where it leads.
func TestRedirect(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		t.Errorf("%s with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		c := behind(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		if out := c.Targets(t.Context(), somePod); out.Err == nil || reached.Load() > 0 {
			t.Errorf("%d: %v", code, out)
		}
	}
}

// endless writes a text until the caller disconnects, and reports how many bytes the caller has read.
func endless(w http.ResponseWriter, text string) (n int) {
	text = strings.Repeat(text, 1+10_000/len(text))
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return n
		}
		n += len(text)
	}
}

// The size of responses is limited, of all together, of one target and of errors.
func TestSize(t *testing.T) {
	for name, tc := range map[string]struct {
		code        int
		begin, text string
		most        int // bytes that are read, with those in buffers of connections
		want        string
	}{
		"targets":         {200, `{"data":{"activeTargets":[{}`, `,{"scrapePool":"a","labels":{"a":"b"}}`, 30 << 20, "more than 2 MiB"},
		"one target":      {200, `{"data":{"activeTargets":[{"scrapeUrl":"`, "x", 10 << 20, "more than 1 MiB"},
		"another field":   {200, `{"data":{"droppedTargets":["`, "x", 10 << 20, "more than 1 MiB"},
		"no end of white": {200, `{"data":{"activeTargets":[`, "    ", 10 << 20, "more than 2 MiB"},
		"deep":            {200, "", "[", 10 << 20, "not the API of Prometheus"},
		"an error":        {500, "", "no ", 10 << 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			taken := make(chan int, 20)
			c := behind(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				fmt.Fprint(w, tc.begin)
				taken <- endless(w, tc.text)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			n := 0
			err := c.Active(ctx, somePod, NewAllowance(2<<20), func(Target) { n++ })
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 1000 {
				t.Errorf("after %d targets: %.2000v", n, err)
			}
			if got := <-taken; got > tc.most {
				t.Errorf("%d bytes were read", got)
			}
		})
	}
}

// All fields are read, in any order, and null in their place is nothing.
func TestActive(t *testing.T) {
	for text, want := range map[string]string{
		`{"status":"success","data":{"droppedTargets":null,"activeTargets":[{"scrapePool":"a","scrapeUrl":"http://x/","health":"down","lastError":"Get \"http://x/\": refused","lastScrape":"2026-01-02T03:04:05Z","lastScrapeDuration":0.25}],"droppedTargetCounts":{"a":1}}}`: "[{a http://x/ map[] down refused 2026-01-02 03:04:05 +0000 UTC 0.25}]",
		`{"data":null}`:                               "[]",
		`{"data":{"activeTargets":null}}`:             "[]",
		`{"data":{"activeTargets":[]},"warnings":[]}`: "[]",
	} {
		c := behind(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer s3cret" {
				t.Error("without the token")
			}
			fmt.Fprint(w, text)
		})
		var got []Target
		if err := c.Active(t.Context(), somePod, NewAllowance(1<<20), func(t Target) { got = append(got, t) }); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s\n%v %v", text, got, err)
		}
	}
	for _, text := range []string{``, `[]`, `{"data":[]}`, `{"data":{"activeTargets":{}}}`, `{"data":{"activeTargets":[{"health":1}]}}`, `{"data":{"activeTargets":[`, `<html>`} {
		c := behind(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
		if err := c.Active(t.Context(), somePod, NewAllowance(1<<20), func(Target) {}); err == nil || !strings.Contains(err.Error(), "not the API of Prometheus") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
