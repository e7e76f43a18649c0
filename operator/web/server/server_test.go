package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/web"
	"github.com/firekeeper-dev/firekeeper/operator/webhook/admission"
)

// Clients that do not read profiles hold few of them in memory.
func TestSlowReadersOfProfiles(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	for range 40_000 { // more than the buffers of a connection
		go func() { <-end }()
	}
	s, err := httpserver.Listen(httpserver.Options{Address: "127.0.0.1:0", Handler: Handler(prometheus.NewRegistry(), func() bool { return true })})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	ask := func() net.Conn {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, "GET /debug/pprof/goroutine?debug=2 HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, len("HTTP/1.0 200 OK"))); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := ask()
	for range profilesAtATime - 1 {
		ask()
	}
	whole, err := io.Copy(io.Discard, ask())
	if part, _ := io.Copy(io.Discard, first); err != nil || part > whole*9/10 {
		t.Errorf("the first request got %d bytes, the last one %d: %v", part, whole, err)
	}
}

// A trace is not kept for a client that does not read it.
func TestSlowReaderOfATrace(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	if _, err := (&prompt{w, http.NewResponseController(w)}).Write(nil); err != nil || w.until.IsZero() || time.Until(w.until) > traceWrite {
		t.Errorf("deadline %v, error %v", w.until, err)
	}
}

// deadlines is a response that records its deadline.
type deadlines struct {
	*httptest.ResponseRecorder
	until time.Time
}

// SetWriteDeadline is called by [http.ResponseController].
func (d *deadlines) SetWriteDeadline(until time.Time) error {
	d.until = until
	return nil
}

func TestHandler(t *testing.T) {
	srv := httptest.NewServer(Handler(Registry("prometheus_operator"), func() bool { return true }, admission.New(admission.Options{})))
	defer srv.Close()
	for path, tc := range map[string]struct {
		code int
		has  []string
	}{
		"/healthz":               {http.StatusOK, nil},
		"/metrics":               {http.StatusOK, []string{"prometheus_operator_build_info{", "go_gc_", "go_sched_", "go_memory_", "go_sync_", "process_start_time_seconds"}},
		"/readyz":                {http.StatusOK, nil},
		"/debug/pprof/":          {http.StatusOK, []string{"goroutine"}},
		"/debug/pprof/heap":      {http.StatusOK, nil},
		"/debug/pprof/cmdline":   {http.StatusOK, nil},
		"/debug/pprof/symbol":    {http.StatusOK, nil},
		"/debug/pprof/nonsense":  {http.StatusNotFound, nil},
		"/":                      {http.StatusNotFound, nil},
		"/metrics/":              {http.StatusNotFound, nil},
		"/apis/monitoring":       {http.StatusNotFound, nil},
		"/healthz?verbose=1&x=y": {http.StatusOK, nil},
	} {
		t.Run(path, func(t *testing.T) {
			resp, err := http.Get(srv.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tc.code {
				t.Fatalf("code %d, want %d; %v", resp.StatusCode, tc.code, err)
			}
			if path == "/healthz" && len(body) > 0 {
				t.Errorf("body %q", body)
			}
			for _, text := range tc.has {
				if !strings.Contains(string(body), text) {
					t.Errorf("no %s", text)
				}
			}
		})
	}
	resp, err := http.Post(srv.URL+"/metrics", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /metrics: %d", resp.StatusCode)
	}
}

// TestWebhooks: both programs serve the webhooks, and each serves its own health.
func TestWebhooks(t *testing.T) {
	webhooks := admission.New(admission.Options{})
	for name, tc := range map[string]struct {
		handler http.Handler
		pprof   int
		metric  string
	}{
		"operator": {Handler(Registry("prometheus_operator"), func() bool { return true }, webhooks), 200, "prometheus_operator_build_info{"},
		"webhook":  {WebhookHandler(Registry("prometheus_operator_admission_webhook"), webhooks), 404, "prometheus_operator_admission_webhook_build_info{"},
	} {
		get := func(method, path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			tc.handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			return w
		}
		for _, path := range []string{admission.ValidateRulesPath, admission.MutateRulesPath, admission.ValidateAlertmanagerConfigsPath, admission.ConvertPath} {
			if w := get(http.MethodPost, path); w.Code != http.StatusBadRequest { // the body is empty
				t.Errorf("%s: %s is %d", name, path, w.Code)
			}
		}
		if w := get(http.MethodGet, "/metrics"); !strings.Contains(w.Body.String(), tc.metric) {
			t.Errorf("%s: no %s", name, tc.metric)
		}
		if w := get(http.MethodGet, "/debug/pprof/cmdline"); w.Code != tc.pprof {
			t.Errorf("%s: pprof is %d", name, w.Code)
		}
	}
	w := httptest.NewRecorder()
	WebhookHandler(Registry("x"), webhooks).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if w.Code != 200 || w.Body.String() != `{"status":"up"}` {
		t.Errorf("healthz: %d %s", w.Code, w.Body)
	}
}

// TestPagesBesideOthers: the pages have the root path, and all other paths are unaffected.
func TestPagesBesideOthers(t *testing.T) {
	handler := Handler(Registry("prometheus_operator"), func() bool { return true }, admission.New(admission.Options{}), web.New(web.Options{Mode: web.Open}))
	for request, code := range map[string]int{ // the cluster has not been read yet
		"GET /": 503, "GET /metrics": 200, "GET /healthz": 200, "GET /readyz": 200, "GET /debug/pprof/cmdline": 200, "GET /debug/pprof/nonsense": 404,
		"POST " + admission.ValidateRulesPath: 400, "POST " + admission.ConvertPath: 400, "GET /apis/monitoring": 404, "GET /metrics/": 503,
		"POST /metrics": 405, "POST /": 503, "GET /api/v1/overview": 503,
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != code {
			t.Errorf("%s: %d, want %d: %.200s", request, w.Code, code, w.Body)
		}
	}
}

// TestNotReady: until the caches have synced, the process is live but not ready.
func TestNotReady(t *testing.T) {
	srv := httptest.NewServer(Handler(Registry("prometheus_operator"), func() bool { return false }, admission.New(admission.Options{})))
	defer srv.Close()
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		resp, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s answers %s", path, resp.Status)
		}
	}
}

// The hooks count real calls of client-go by path template: object names would cause unbounded
// cardinality.
func TestWatchClient(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/gone") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}`)
	}))
	defer api.Close()
	reg := prometheus.NewRegistry()
	WatchClient(reg)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "gone"} {
		_, err := kube.CoreV1().Secrets("team").Get(t.Context(), name, metav1.GetOptions{})
		if (err != nil) != (name == "gone") {
			t.Fatal(err)
		}
	}
	if _, err := kube.CoreV1().Secrets("team").Create(t.Context(), &corev1.Secret{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = `
# HELP prometheus_operator_kubernetes_client_http_requests_total API requests by status code.
# TYPE prometheus_operator_kubernetes_client_http_requests_total counter
prometheus_operator_kubernetes_client_http_requests_total{status_code="200"} 3
prometheus_operator_kubernetes_client_http_requests_total{status_code="404"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "prometheus_operator_kubernetes_client_http_requests_total"); err != nil {
		t.Error(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	endpoints := map[string]uint64{}
	for _, f := range families {
		if f.GetName() != "prometheus_operator_kubernetes_client_http_request_duration_seconds" {
			continue
		}
		for _, m := range f.Metric {
			endpoints[m.Label[0].GetValue()] += m.GetSummary().GetSampleCount()
			if len(m.GetSummary().Quantile) > 0 {
				t.Error("quantiles")
			}
		}
	}
	if len(endpoints) != 2 {
		t.Errorf("endpoints %v, want one for the objects and one for the collection", endpoints)
	}
	for name := range endpoints {
		if strings.Contains(name, "team") || strings.Contains(name, "one") {
			t.Errorf("an endpoint names objects: %s", name)
		}
	}
	metrics.RateLimiterLatency.Observe(context.Background(), "GET", url.URL{Path: "/x"}, time.Second)
	if n := testutil.CollectAndCount(reg, "prometheus_operator_kubernetes_client_rate_limiter_duration_seconds"); n < 1 {
		t.Error("the rate limiter is not watched")
	}
}
