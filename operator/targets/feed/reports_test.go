package feed

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// post sends a report and returns status and text of the response.
func (s *served) post(t testing.TB, token, body string) (code int, text string) {
	t.Helper()
	response := s.send(t, http.MethodPost, targetreport.Path, token, strings.NewReader(body))
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(all))
}

// again allows all pods to report once more.
func (s *served) again() {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	for _, p := range s.streams.pods {
		p.reported = time.Time{}
	}
}

// open starts a stream and waits for the list.
func (s *served) open(t testing.TB, token string) *http.Response {
	t.Helper()
	response := s.get(t, token, "")
	(&follower{}).follow(t, bufio.NewReader(response.Body), 1)
	return response
}

const disagrees = `{"version":"7-3","requested":2,"served":3,"active":2,"compared":2,"age":3,"jobs":[
{"job":"zero","served":3,"active":2,"dropped":{"count":1,"names":["10.0.0.2:80"]}},
{"job":"none of this shard","served":3,"active":2,"dropped":{"count":9,"names":["10.9.9.9:80"]}}]}`

// A pod reports about its own list. The metric counts each disagreement once, the log names it.
func TestReports(t *testing.T) {
	s, log := serve(t), &logtest.Log{}
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	if code, text := s.post(t, s.shard[0], `{"version":"7-3"}`); code != http.StatusConflict {
		t.Errorf("a pod without a stream: %d %s", code, text)
	}
	s.open(t, s.shard[0])
	before := s.reviewed.Load()
	has := func(series string) {
		t.Helper()
		registry := prometheus.NewRegistry()
		registry.MustRegister(s.Server)
		page := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/", nil))
		if !strings.Contains(page.Body.String(), "\nprometheus_operator_discovery_"+series+"\n") {
			t.Errorf("no %s in\n%s", series, page.Body)
		}
	}
	for range 3 {
		if code, text := s.post(t, s.shard[0], disagrees); code != http.StatusNoContent {
			t.Fatalf("%d %s", code, text)
		}
		if code, _ := s.post(t, s.shard[0], disagrees); code != http.StatusTooManyRequests {
			t.Errorf("a second report at once: %d", code)
		}
		has(`disagreements_total{type="dropped"} 1`)
		s.again()
	}
	if s.reviewed.Load() != before {
		t.Errorf("%d further reviews of a token that an open stream has", s.reviewed.Load()-before)
	}
	if text := log.String(); strings.Count(text, "a Prometheus drops targets of its list") != 1 || !strings.Contains(text, "pod=prometheus-k8s-0 job=zero count=1 targets=[10.0.0.2:80]") || strings.Contains(text, "none of this shard") {
		t.Error(text)
	}
	shards, _ := s.Status()
	if r := shards[shard0].Streams[0].Report; r == nil || r.Served != 3 || r.Active != 2 || len(r.Jobs) != 1 || r.Disagreements() != 1 {
		t.Errorf("%+v", r)
	}
	has("disagreements 1")
	has("reporting_pods 1")
	s.post(t, s.shard[0], `{"version":"7-3"}`)
	s.again()
	s.post(t, s.shard[0], disagrees)
	has(`disagreements_total{type="dropped"} 2`) // and was counted again
	has(`disagreements_total{type="unlisted"} 0`)
}

// Reports are bounded before they are read, and never about another pod.
func TestReportsAreRefused(t *testing.T) {
	s := serve(t)
	s.open(t, s.shard[0])
	other := s.run("monitoring", "prometheus-other", "prometheus")
	for _, c := range []struct {
		token, body string
		want        int
	}{
		{"", `{}`, http.StatusUnauthorized},
		{"wrong", `{}`, http.StatusUnauthorized},
		{strings.Repeat("x", maxToken+1), `{}`, http.StatusUnauthorized},
		{other, `{}`, http.StatusForbidden},
		{s.shard[1], `{}`, http.StatusConflict},
		{s.shard[0], `{"version":"seven"}`, http.StatusBadRequest},
		{s.shard[0], `{"version":"7-1","served":-1}`, http.StatusBadRequest},
		{s.shard[0], `[`, http.StatusBadRequest},
		{s.shard[0], `{"version":"` + strings.Repeat("7", targetreport.MaxBytes) + `"}`, http.StatusRequestEntityTooLarge},
		{s.shard[0], `{"version":"7-1"}`, http.StatusNoContent},
	} {
		s.again()
		if code, text := s.post(t, c.token, c.body); code != c.want {
			t.Errorf("%.40s: %d %s, want %d", c.body, code, text, c.want)
		}
	}
	// Also without a Content-Length.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+targetreport.Path, io.MultiReader(strings.NewReader(strings.Repeat(" ", targetreport.MaxBytes+1))))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.shard[0])
	s.again()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%d for a long body of unknown length", response.StatusCode)
	}
	s.Feed.Lead(0)
	s.again()
	if code, _ := s.post(t, s.shard[0], `{"version":"7-1"}`); code != http.StatusServiceUnavailable {
		t.Errorf("%d from a replica that does not lead", code)
	}
}

// The report of a pod is dropped with its last stream, so the limit of streams also limits reports. The log is limited
// whatever pods report.
func TestReportsAreBounded(t *testing.T) {
	s, log := serve(t), &logtest.Log{}
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	response := s.open(t, s.shard[0])
	for i := range 2 * maxLogged {
		s.again()
		body := disagrees
		if i%2 == 1 {
			body = `{"version":"7-3"}`
		}
		if code, text := s.post(t, s.shard[0], body); code != http.StatusNoContent {
			t.Fatal(code, text)
		}
	}
	s.again()
	s.post(t, s.shard[0], disagrees)
	if n := strings.Count(log.String(), "drops targets"); n != maxLogged {
		t.Errorf("%d lines in the log", n)
	}
	if len(s.streams.reports()) != 1 {
		t.Fatal("no report")
	}
	response.Body.Close()
	for end := time.Now().Add(10 * time.Second); len(s.streams.reports()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the report of a pod that has gone is kept")
		}
	}
}
