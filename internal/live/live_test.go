package live

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAsksAServer(t *testing.T) {
	answers := map[string]string{
		"/api/v1/rules":         `{"status":"success","data":{"groups":[{"name":"g","file":"f","rules":[{"name":"r","query":"up == 0"}]}]}}`,
		"/api/v1/targets":       `{"status":"success","data":{"activeTargets":[{"scrapePool":"p","health":"up","labels":{"job":"j"}}]}}`,
		"/api/v1/status/config": `{"status":"success","data":{"yaml":"global: {}\n"}}`,
		"/api/v1/query":         `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]},{"metric":{},"value":[1,"2"]}]}}`,
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
