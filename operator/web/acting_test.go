package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// proxied is an API server with a Prometheus in pod demo/prometheus-main-0. A token authenticates
// the user of the same name. Only alice and bob may get pods/proxy in demo.
type proxied struct {
	*httptest.Server
	mu       sync.Mutex
	reviews  []string // Authorization of reviews
	requests []string // Authorization of requests to the pod
}

func newProxied(t *testing.T) *proxied {
	p := &proxied{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		token := r.Header.Get("Authorization")
		switch {
		case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
			p.reviews = append(p.reviews, token)
			var review authenticationv1.TokenReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			review.Status.Authenticated, review.Status.User.Username = true, review.Spec.Token
			_ = json.NewEncoder(w).Encode(review)
		case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
			p.reviews = append(p.reviews, token)
			var review authorizationv1.SubjectAccessReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			a := review.Spec.ResourceAttributes
			review.Status.Allowed = a.Subresource == "" && a.Resource == "prometheuses" ||
				a.Verb == "get" && a.Resource == "pods" && a.Subresource == "proxy" && a.Namespace == "demo" && review.Spec.User != "carol"
			_ = json.NewEncoder(w).Encode(review)
		case r.URL.Path == "/api/v1/namespaces/demo/pods/http:prometheus-main-0:9090/proxy/api/v1/targets" && r.Method == "GET":
			p.requests = append(p.requests, token)
			_, _ = io.WriteString(w, `{"data":{"activeTargets":[{"scrapePool":"a","scrapeUrl":"http://x/","health":"up"}]}}`)
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// serverAnswers are routes whose answers query servers as the caller.
type serverAnswers struct{ *fake }

func (serverAnswers) Workload(context.Context, access.Rights, insight.Object) (*insight.Workload, error) {
	return &insight.Workload{CanQuery: true}, nil
}

func (serverAnswers) Scrapes(ctx context.Context, r access.Rights, _ insight.Object, of []preview.Target) (*insight.Scrapes, error) {
	caller, is := r.(insight.Acting)
	if !is {
		return nil, fmt.Errorf("%T cannot ask", r)
	}
	if may, err := r.May(ctx, "get", schema.GroupResource{Resource: "pods/proxy"}, "demo"); !may || err != nil {
		return nil, fmt.Errorf("may not ask: %v", err)
	}
	servers, release, err := caller.Servers(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := insight.NewScrapes(of)
	pod := insight.ScrapingPod{Pod: "prometheus-main-0"}
	err = servers.(preview.Servers).Active(ctx, promapi.Server{Namespace: "demo", Pod: pod.Pod, Scheme: "http", Port: 9090}, promapi.NewAllowance(1<<20), func(t promapi.Target) {
		out.Add(&pod, t.Job, t.URL, insight.Scrape{Health: t.Health})
	})
	out.Pods = append(out.Pods, pod)
	return out, err
}

// TestActing: pages query pods with the token of their caller and never with that of the operator, and not at all for a
// caller without the permission.
func TestActing(t *testing.T) {
	p := newProxied(t)
	h := New(Options{Mode: Authenticated})
	if err := h.Connect(&rest.Config{Host: p.URL, BearerToken: "operator", Impersonate: rest.ImpersonationConfig{UserName: "operator"}}); err != nil {
		t.Fatal(err)
	}
	h.Add(catalog.Prometheus, mainOnly())
	srv := serve(t, h, serverAnswers{newFake()})
	const path = "/prometheuses/demo/main?tab=targets"
	for _, name := range []string{"alice", "bob", "carol", "alice"} {
		resp, body := ask(t, srv, "GET", path+"&health=1", "Authorization", "Bearer "+name)
		if up := strings.Contains(body, "1 up"); resp.StatusCode != 200 || up != (name != "carol") {
			t.Errorf("%s: %s\n%s", name, resp.Status, body)
		}
	}
	ask(t, srv, "GET", path, "Authorization", "Bearer alice") // without asking
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := fmt.Sprint(p.requests); got != "[Bearer alice Bearer bob Bearer alice]" {
		t.Errorf("pods were asked with %s", got)
	}
	for _, token := range p.reviews {
		if token != "Bearer operator" {
			t.Errorf("a review with %q", token)
		}
	}
	if len(p.reviews) == 0 {
		t.Error("no reviews, which shows nothing")
	}
}

// TestOpenDoesNotAct: if callers need no token, none is used.
func TestOpenDoesNotAct(t *testing.T) {
	h := New(Options{Mode: Open})
	h.Add(catalog.Prometheus, mainOnly())
	srv := serve(t, h, serverAnswers{newFake()})
	if _, body := ask(t, srv, "GET", "/prometheuses/demo/main?tab=targets&health=1", "Authorization", "Bearer alice"); !strings.Contains(body, "allPermissions cannot ask") {
		t.Errorf("asks with the token of a caller that nobody has checked\n%s", body)
	}
}

// TestCallersTakeTurns: each caller has one request at a time, and does not keep others from theirs.
func TestCallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes(2, 5, 2*time.Second)
		enter := func(name string) func() {
			began := time.Now()
			leave, err := l.enter(t.Context(), name)
			if waited := time.Since(began); err != nil && err != errFull || waited > 2*time.Second {
				t.Errorf("%s: %v after %s", name, err, waited)
			}
			return leave
		}
		first := enter("a")
		if enter("a") != nil {
			t.Error("a is asking already")
		}
		other := enter("b")
		if first == nil || other == nil || enter("c") != nil {
			t.Error("not two at a time")
		}
		time.AfterFunc(time.Second, first)
		second := enter("a")
		if second == nil {
			t.Error("a has ended")
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.enter(gone, "d"); err != context.Canceled {
			t.Error(err)
		}
		other()
		second()
		if len(l.of) > 0 || l.isIn > 0 || len(l.free) > 0 {
			t.Errorf("%d lanes, %d in them, %d work", len(l.of), l.isIn, len(l.free))
		}
	})
}

// TestBearerToken: only a token with which a request can be authenticated is used.
func TestBearerToken(t *testing.T) {
	for header, want := range map[string]string{"Bearer a.b": "a.b", "bearer a": "a", " Bearer  a": "", "Basic a": "", "Bearer": "", "": ""} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		if got := bearerToken(r); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}
