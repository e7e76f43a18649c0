package web

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// fixed are workloads that do not change.
type fixed map[string]v1.Workload

func (f fixed) Workload(key types.NamespacedName) (v1.Workload, any, bool) {
	w, ok := f[key.String()]
	return w, v1.PrometheusStatus{WorkloadStatus: v1.WorkloadStatus{Replicas: 2, AvailableReplicas: 1}}, ok
}

// apiServer accepts two tokens: `reader` may get Prometheus objects in demo, `nobody` has no
// permissions. It counts reviews.
type apiServer struct {
	*httptest.Server
	tokens, rights atomic.Int32
	down           atomic.Bool
	forbids        atomic.Bool   // reviews by the operator
	revoked        atomic.Bool   // all tokens
	asked, told    chan struct{} // for tokens that begin with "slow"
}

func newAPIServer(t testing.TB) *apiServer {
	s := &apiServer{asked: make(chan struct{}), told: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case s.down.Load():
			http.Error(w, "etcd is away", http.StatusInternalServerError)
		case s.forbids.Load():
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: 403, Message: "tokenreviews is forbidden"})
		case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
			s.tokens.Add(1)
			var review authenticationv1.TokenReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			name := review.Spec.Token
			if strings.HasPrefix(name, "slow") {
				s.asked <- struct{}{}
				<-s.told
			}
			review.Status.Authenticated = (name == "reader" || name == "nobody") && !s.revoked.Load()
			if review.Status.Authenticated {
				review.Status.User.Username = name
			} else {
				review.Status.Error = "token " + name + " is not valid"
			}
			_ = json.NewEncoder(w).Encode(review)
		case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
			s.rights.Add(1)
			var review authorizationv1.SubjectAccessReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			a := review.Spec.ResourceAttributes
			if path := review.Spec.NonResourceAttributes; path != nil {
				review.Status.Allowed = review.Spec.User == "reader" && path.Verb == "get" && strings.HasPrefix(path.Path, "/debug/pprof/")
				_ = json.NewEncoder(w).Encode(review)
				return
			}
			review.Status.Allowed = review.Spec.User == "reader" && a.Verb == "get" && a.Group == "monitoring.coreos.com" && a.Resource == "prometheuses" && a.Namespace == "demo"
			_ = json.NewEncoder(w).Encode(review)
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func connect(t testing.TB, h *Handler, to *apiServer) {
	t.Helper()
	if err := h.Connect(&rest.Config{Host: to.URL}); err != nil {
		t.Fatal(err)
	}
}

// uncached returns an authenticator that reviews every token.
func uncached(t *testing.T, of *apiServer) authenticator.Request {
	t.Helper()
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: of.URL})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := newTokens(kube)
	if err != nil {
		t.Fatal(err)
	}
	return bearertoken.New(tokens)
}

// mainOnly has Prometheus demo/main.
func mainOnly() fixed {
	main := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "main", ResourceVersion: "7"}}
	main.Spec.Version = "v3.5.1"
	main.Status.Replicas = 99 // an old value
	return fixed{"demo/main": main}
}

func long(n int) string { return strings.Repeat("x", n) }

func statusOf(t *testing.T, body string) (s metav1.Status) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Errorf("not a Status: %v\n%s", err, body)
	}
	return s
}

// logs are lines of a log.
type logs struct {
	mu sync.Mutex
	strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.String()
}

func (l *logs) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

func api(t *testing.T, mode string, of *apiServer) *httptest.Server {
	t.Helper()
	h := New(Options{Mode: mode})
	if of != nil {
		connect(t, h, of)
	}
	h.Add(catalog.Prometheus, mainOnly())
	h.Add(catalog.PrometheusAgent, fixed{"demo/agent": &v1alpha1.PrometheusAgent{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent"}}})
	mux := http.NewServeMux()
	h.Register(mux)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

const mainStatus = "/apis/monitoring.coreos.com/v1/namespaces/demo/prometheuses/main/status"

// ask returns the response to a request; headers are in pairs.
func ask(t *testing.T, srv *httptest.Server, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, srv.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return send(t, r)
}

func send(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}
