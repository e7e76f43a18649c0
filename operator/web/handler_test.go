package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestWorkloadStatus: clients of the first operators can read an object and its status.
func TestWorkloadStatus(t *testing.T) {
	srv := api(t, Open, nil)
	resp, body := ask(t, srv, "GET", mainStatus)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s, %s\n%s", resp.Status, resp.Header.Get("Content-Type"), body)
	}
	var got v1.Prometheus
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "Prometheus" || got.APIVersion != "monitoring.coreos.com/v1" || got.Name != "main" || got.Spec.Version != "v3.5.1" ||
		got.Status.Replicas != 2 || got.Status.AvailableReplicas != 1 {
		t.Errorf("got %s", body)
	}
	if !strings.Contains(body, `"paused":false`) {
		t.Errorf("fields that are not set are left out: %s", body)
	}
	if _, body := ask(t, srv, "GET", "/apis/monitoring.coreos.com/v1alpha1/namespaces/demo/prometheusagents/agent/status"); !strings.Contains(body, `"kind":"PrometheusAgent"`) {
		t.Errorf("an agent is %s", body)
	}
}

// TestStatusOfTheFirstOperators: clients of operators before 0.64 find all fields with their types,
// including zero values.
func TestStatusOfTheFirstOperators(t *testing.T) {
	resp, body := ask(t, api(t, Open, nil), "GET", mainStatus)
	var got struct {
		Kind       string         `json:"kind"`
		APIVersion string         `json:"apiVersion"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
		Status     map[string]any `json:"status"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%v %v", err, resp.Header)
	}
	if got.Kind != "Prometheus" || got.APIVersion != "monitoring.coreos.com/v1" || got.Metadata["namespace"] != "demo" || got.Metadata["name"] != "main" || got.Spec["version"] != "v3.5.1" {
		t.Errorf("%s", body)
	}
	for field, want := range map[string]any{"paused": false, "replicas": 2.0, "updatedReplicas": 0.0, "availableReplicas": 1.0, "unavailableReplicas": 0.0} {
		if got.Status[field] != want {
			t.Errorf("status.%s is %v, want %v", field, got.Status[field], want)
		}
	}
}

// TestAgain: an unchanged response is 304; HEAD has no body; large responses are compressed.
func TestAgain(t *testing.T) {
	srv := api(t, Open, nil)
	resp, _ := ask(t, srv, "GET", mainStatus)
	tag := resp.Header.Get("ETag")
	for _, header := range []string{tag, "*", `"x", ` + tag, strings.TrimPrefix(tag, "W/")} {
		if resp, body := ask(t, srv, "GET", mainStatus, "If-None-Match", header); resp.StatusCode != 304 || body != "" || resp.Header.Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %s %q", header, resp.Status, body)
		}
	}
	if resp, _ := ask(t, srv, "GET", mainStatus, "If-None-Match", `"other"`); resp.StatusCode != 200 {
		t.Errorf("another tag: %s", resp.Status)
	}
	if resp, body := ask(t, srv, "HEAD", mainStatus); resp.StatusCode != 200 || body != "" {
		t.Errorf("HEAD: %s %q", resp.Status, body)
	}
	if tag == "" {
		t.Error("no ETag")
	}
}

// TestRefusals: every error is a Status with a specific message.
func TestRefusals(t *testing.T) {
	server := newAPIServer(t)
	srv := api(t, Authenticated, server)
	const reader, nobody = "Bearer reader", "Bearer nobody"
	for name, tc := range map[string]struct {
		method, path, token string
		code                int
		has                 string
	}{
		"allowed":            {"GET", mainStatus, reader, 200, `"name":"main"`},
		"no token":           {"GET", mainStatus, "", 401, "no valid bearer token"},
		"wrong token":        {"GET", mainStatus, "Bearer s3cret-typo", 401, "no valid bearer token"},
		"basic":              {"GET", mainStatus, "Basic cmVhZGVyOng=", 401, "no valid bearer token"},
		"no permission":      {"GET", mainStatus, nobody, 403, `user \"nobody\" has no permission to get prometheuses in namespace \"demo\"`},
		"other namespace":    {"GET", strings.Replace(mainStatus, "demo", "prod", 1), reader, 403, `in namespace \"prod\"`},
		"other kind":         {"GET", "/apis/monitoring.coreos.com/v1alpha1/namespaces/demo/prometheusagents/agent/status", reader, 403, "get prometheusagents"},
		"absent, unknown":    {"GET", strings.Replace(mainStatus, "main", "none", 1), nobody, 403, "no permission"},
		"absent":             {"GET", strings.Replace(mainStatus, "main", "none", 1), reader, 404, `prometheuses.monitoring.coreos.com \"none\" not found`},
		"not started":        {"GET", "/apis/monitoring.coreos.com/v1/namespaces/demo/thanosrulers/r/status", reader, 403, "get thanosrulers"},
		"write":              {"PUT", mainStatus, reader, 405, "PUT is not possible here"},
		"delete":             {"DELETE", mainStatus, reader, 405, "DELETE is not possible here"},
		"parameter":          {"GET", mainStatus + "?pretty=true", reader, 400, `parameter \"pretty\"`},
		"no such path":       {"GET", "/apis/monitoring.coreos.com/v1/namespaces/demo/prometheuses/main", reader, 404, "no such page"},
		"not a workload":     {"GET", "/apis/monitoring.coreos.com/v1/namespaces/demo/servicemonitors/web/status", reader, 404, "no such page"},
		"version of another": {"GET", strings.Replace(mainStatus, "/v1/", "/v1alpha1/", 1), reader, 404, "no such page"},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{}
			if tc.token != "" {
				headers = []string{"Authorization", tc.token}
			}
			resp, body := ask(t, srv, tc.method, tc.path, headers...)
			if resp.StatusCode != tc.code || !strings.Contains(body, tc.has) {
				t.Errorf("%s\n%s\nwant %d %s", resp.Status, body, tc.code, tc.has)
			}
			if resp.Header.Get("Content-Type") != "application/json" || strings.Contains(body, "s3cret") {
				t.Errorf("%s: %s", resp.Header.Get("Content-Type"), body)
			}
			var status metav1.Status
			if err := json.Unmarshal([]byte(body), &status); tc.code != 200 && (err != nil || status.Kind != "Status" || int(status.Code) != tc.code) {
				t.Errorf("not a Status (%v): %s", err, body)
			}
		})
	}
}

// TestReviewsAreCached: many requests of one caller cause one review of each kind.
func TestReviewsAreCached(t *testing.T) {
	server := newAPIServer(t)
	srv := api(t, Authenticated, server)
	for range 50 {
		if resp, body := ask(t, srv, "GET", mainStatus, "Authorization", "Bearer reader"); resp.StatusCode != 200 {
			t.Fatalf("%s %s", resp.Status, body)
		}
	}
	if server.tokens.Load() != 1 || server.rights.Load() != 1 {
		t.Errorf("%d token reviews, %d access reviews", server.tokens.Load(), server.rights.Load())
	}
}

// TestManyNewTokens: clients that send unknown tokens, each from a different address, do not block
// known callers.
func TestManyNewTokens(t *testing.T) {
	server := newAPIServer(t)
	srv := api(t, Authenticated, server)
	ask(t, srv, "GET", mainStatus, "Authorization", "Bearer reader")
	askFrom := func(address, token string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, mainStatus, nil)
		r.RemoteAddr = address
		r.Header.Set("Authorization", "Bearer "+token)
		srv.Config.Handler.ServeHTTP(w, r)
		return w
	}
	var wg sync.WaitGroup
	for i := range newTokensAtATime {
		wg.Go(func() { askFrom(fmt.Sprintf("10.0.0.%d:1", i), fmt.Sprintf("slow-%d", i)) })
		<-server.asked
	}
	for what, address := range map[string]string{"one more": "10.0.1.1:1", "one more of the same address": "10.0.0.1:2"} {
		if w := askFrom(address, "slow"); w.Code != 429 || !strings.Contains(w.Body.String(), "new tokens at a time") || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	if resp, body := ask(t, srv, "GET", mainStatus, "Authorization", "Bearer reader"); resp.StatusCode != 200 {
		t.Errorf("who is known: %s %s", resp.Status, body)
	}
	close(server.told)
	wg.Wait()
}

// TestReviewsAreUnavailable: if the API server does not respond, no caller is admitted, and the
// message names the operator's missing permission.
func TestReviewsAreUnavailable(t *testing.T) {
	server := newAPIServer(t)
	srv := api(t, Authenticated, server)
	for name, set := range map[string]*atomic.Bool{"down": &server.down, "no permission": &server.forbids} {
		set.Store(true)
		resp, body := ask(t, srv, "GET", mainStatus, "Authorization", "Bearer reader")
		if resp.StatusCode != 503 || !strings.Contains(body, "create tokenreviews") || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s %s", name, resp.Status, body)
		}
		set.Store(false)
	}
	if resp, body := ask(t, api(t, Authenticated, nil), "GET", mainStatus); resp.StatusCode != 503 || !strings.Contains(body, "not connected") {
		t.Errorf("before the start: %s %s", resp.Status, body)
	}
}

// TestNotStarted: a kind whose controller is not running is not "not found".
func TestNotStarted(t *testing.T) {
	resp, body := ask(t, api(t, Open, nil), "GET", "/apis/monitoring.coreos.com/v1/namespaces/demo/thanosrulers/r/status")
	if resp.StatusCode != 503 || !strings.Contains(body, "does not watch thanosrulers") {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestCompressed: a large response is compressed for clients that accept it.
func TestCompressed(t *testing.T) {
	h := New(Options{Mode: Open})
	large := &v1.Prometheus{}
	large.Annotations = map[string]string{"note": strings.Repeat("large ", 10000)}
	h.Add(catalog.Prometheus, fixed{"demo/main": large})
	mux := http.NewServeMux()
	h.Register(mux)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	if resp, body := ask(t, srv, "GET", mainStatus, "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "gzip" || len(body) > 5000 {
		t.Errorf("%v, %d bytes", resp.Header, len(body))
	}
	if resp, body := ask(t, srv, "GET", mainStatus, "Accept-Encoding", "identity"); resp.Header.Get("Content-Encoding") != "" || len(body) < 50000 {
		t.Errorf("%v, %d bytes", resp.Header, len(body))
	}
}

// TestOff: no path of the API exists.
func TestOff(t *testing.T) {
	if resp, body := ask(t, api(t, Off, nil), "GET", mainStatus); resp.StatusCode != 404 || strings.Contains(body, "Status") {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// waiting are workloads that are returned on a signal.
type waiting struct {
	fixed
	asked, told chan struct{}
}

func (w waiting) Workload(key types.NamespacedName) (v1.Workload, any, bool) {
	w.asked <- struct{}{}
	<-w.told
	return w.fixed.Workload(key)
}

// TestTooMany: requests beyond twenty concurrent ones are rejected immediately.
func TestTooMany(t *testing.T) {
	h := New(Options{Mode: Open})
	of := waiting{fixed{"demo/main": &v1.Prometheus{}}, make(chan struct{}), make(chan struct{})}
	h.Add(catalog.Prometheus, of)
	mux := http.NewServeMux()
	h.Register(mux)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	var wg sync.WaitGroup
	codes := make(chan int, atATime)
	for range atATime {
		wg.Go(func() {
			resp, err := http.Get(srv.URL + mainStatus)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			codes <- resp.StatusCode
		})
		<-of.asked
	}
	if resp, body := ask(t, srv, "GET", mainStatus); resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %s %s", resp.Status, body)
	}
	close(of.told)
	wg.Wait()
	close(codes)
	counts := map[int]int{}
	for c := range codes {
		counts[c]++
	}
	if !maps.Equal(counts, map[int]int{200: atATime}) {
		t.Errorf("codes %v", counts)
	}
}

// TestDeadline: no request takes longer than ten seconds.
func TestDeadline(t *testing.T) {
	done := make(chan time.Duration, 1)
	newSlots(1, newMetrics()).limit(asStatus, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		at, _ := r.Context().Deadline()
		done <- time.Until(at)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if left := <-done; left <= 0 || left > longest {
		t.Errorf("a request may take %s", left)
	}
}
