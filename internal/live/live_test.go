package live

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestQueriesAServer(t *testing.T) {
	answers := map[string]string{
		"/api/v1/rules":         `{"status":"success","data":{"groups":[{"name":"g","file":"f","rules":[{"name":"r","query":"up == 0"}]}]}}`,
		"/api/v1/targets":       `{"status":"success","data":{"activeTargets":[{"scrapePool":"p","health":"up","labels":{"job":"j"}}]}}`,
		"/api/v1/status/config": `{"status":"success","data":{"yaml":"global: {}\n"}}`,
		"/api/v1/query":         `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]},{"metric":{},"value":[1,"2"]}]}}`,
		"/api/v1/alertmanagers": `{"status":"success","data":{"activeAlertmanagers":[{"url":"http://10.0.0.1:9093/api/v2/alerts"}]}}`,
		"/api/v2/alerts":        `[{"labels":{"alertname":"A"},"annotations":{"text":"t"},"generatorURL":"http://g"}]`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			http.Error(w, "no such page", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	p := &Prometheus{base: srv.URL}
	ctx := t.Context()
	if ok, err := p.HasRule(ctx, "up == 0"); !ok || err != nil {
		t.Errorf("HasRule = %v, %v", ok, err)
	}
	if ok, err := p.HasRule(ctx, "up == 1"); ok || err != nil {
		t.Errorf("HasRule of another = %v, %v", ok, err)
	}
	if targets, err := p.Targets(ctx); err != nil || len(targets) != 1 || targets[0].Labels["job"] != "j" {
		t.Errorf("Targets = %v, %v", targets, err)
	}
	if cfg, err := p.Config(ctx); cfg != "global: {}\n" || err != nil {
		t.Errorf("Config = %q, %v", cfg, err)
	}
	if n, err := p.Series(ctx, `up{job="a b"}`); n != 2 || err != nil {
		t.Errorf("Series = %d, %v", n, err)
	}
	if hosts, err := p.Alertmanagers(ctx); err != nil || len(hosts) != 1 || hosts[0] != "10.0.0.1:9093" {
		t.Errorf("Alertmanagers = %q, %v", hosts, err)
	}
	alerts, err := (&Alertmanager{base: srv.URL}).Alerts(ctx)
	if err != nil || len(alerts) != 1 || alerts[0].Labels["alertname"] != "A" || alerts[0].GeneratorURL != "http://g" {
		t.Errorf("Alerts = %v, %v", alerts, err)
	}
	delete(answers, "/api/v1/rules")
	if _, err := p.RuleGroups(ctx); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("RuleGroups of a missing page: %v", err)
	}
}

func TestUntil(t *testing.T) {
	n := 0
	took, err := Until(t.Context(), time.Minute, func(context.Context) (bool, error) { n++; return n == 3, errors.New("not yet") })
	if err != nil || n != 3 || took <= 0 {
		t.Errorf("took %v, asked %d times, %v", took, n, err)
	}
	if _, err := Until(t.Context(), time.Millisecond, func(context.Context) (bool, error) { return false, errors.New("broken") }); err == nil ||
		!strings.Contains(err.Error(), "broken") {
		t.Errorf("error = %v", err)
	}
}

func TestQueriesAnAlertmanager(t *testing.T) {
	var posted string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v2/status", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"cluster":{"peers":[{"name":"a","address":"10.0.0.1:9094"},{"name":"b"}]},"config":{"original":"route: {}"}}`))
	})
	mux.HandleFunc("GET /api/v2/silences", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`[{"id":"1","status":{"state":"active"}},{"id":"2","status":{"state":"expired"}}]`))
	})
	mux.HandleFunc("POST /api/v2/silences", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		posted = string(body)
		if err != nil || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "no JSON", http.StatusUnsupportedMediaType)
			return
		}
		_, _ = w.Write([]byte(`{"silenceID":"3"}`))
	})
	mux.HandleFunc("POST /api/v2/alerts", func(_ http.ResponseWriter, r *http.Request) { // responds with a status only
		body, _ := io.ReadAll(r.Body)
		posted = string(body)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	a, ctx := &Alertmanager{base: srv.URL}, t.Context()
	if s, err := a.Status(ctx); err != nil || len(s.Cluster.Peers) != 2 || s.Cluster.Peers[0].Name != "a" || s.Config.Original != "route: {}" {
		t.Errorf("Status = %+v, %v", s, err)
	}
	if ids, err := a.Silenced(ctx); err != nil || !slices.Equal(ids, []string{"1"}) {
		t.Errorf("Silenced = %q, %v", ids, err)
	}
	id, err := a.Silence(ctx, "alertname", "A", time.Hour)
	if want := `{"matchers":[{"name":"alertname","value":"A","isRegex":false}],"startsAt":"`; err != nil || id != "3" || !strings.HasPrefix(posted, want) {
		t.Errorf("Silence = %q, %v; posted %s", id, err, posted)
	}
	if err := a.Fire(ctx, map[string]string{"alertname": "A"}); err != nil || posted != `[{"labels":{"alertname":"A"}}]` {
		t.Errorf("Fire: %v; posted %s", err, posted)
	}
}

func TestQueriesAWebhook(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`[{"at":"2026-01-02T03:04:05Z","from":"10.0.0.1","path":"/p","receiver":"r","status":"firing",` +
			`"alerts":[{"status":"resolved","labels":{"alertname":"A"}}]}]`))
	}))
	defer srv.Close()
	got, err := (&Webhook{base: srv.URL}).Notifications(t.Context())
	if err != nil || len(got) != 1 || got[0].From != "10.0.0.1" || got[0].At.IsZero() || got[0].Alerts[0].Status != "resolved" || got[0].Alerts[0].Labels["alertname"] != "A" {
		t.Errorf("Notifications = %+v, %v", got, err)
	}
}

func TestPatches(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if got = strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), string(body)}, " "); err != nil || r.URL.Path != "/apis/x" {
			http.Error(w, "no such object", http.StatusNotFound)
		}
	}))
	defer srv.Close()
	p := &Proxy{url: srv.URL}
	if err := p.Patch(t.Context(), "/apis/x", `{"a":1}`); err != nil || got != `PATCH /apis/x application/merge-patch+json {"a":1}` {
		t.Errorf("%s: %v", got, err)
	}
	if err := p.Patch(t.Context(), "/apis/y", "{}"); err == nil || !strings.Contains(err.Error(), "no such object") {
		t.Errorf("a missing object: %v", err)
	}
}
