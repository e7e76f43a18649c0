package reload

import (
	"net/url"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/thanostest"
)

// The status code of a Thanos Ruler is enough: its runtimeinfo does not report reloads, and its readiness endpoint is
// outside the route prefix.
func TestRealThanos(t *testing.T) {
	rule := func(expr string) map[string]string {
		return map[string]string{thanostest.RuleFolder + "/cm/a.yaml": "groups: [{name: g, rules: [{record: r, expr: '" + expr + "'}]}]\n"}
	}
	s, err := thanostest.Find(t).Start(t.Context(), thanostest.Container{
		Args:  []string{"rule", "--data-dir=/thanos/data", "--query=http://a", "--rule-file=" + thanostest.RuleFolder + "/*/*.yaml", "--web.route-prefix=/rules"},
		Files: rule("up"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	parse := func(path string) *url.URL {
		u, err := url.Parse(s.URL(path))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	client := ClientOptions{Timeout: patienceInTests}
	h := NewHTTP(HTTPOptions{
		URL: parse("/-/reload"), Ready: parse("/-/ready"), Client: client,
		Info: &RuntimeInfo{URL: parse("/api/v1/status/runtimeinfo"), Client: client}, InfoOptional: true,
	})
	for _, step := range []struct{ expr, fault string }{
		{"up + 1", ""},
		{"sum(", "500 Internal Server Error: reloading rules failed: strategy ABORT, update rules: error loading rules"},
		{"up + 2", ""},
	} {
		if err := s.Put(rule(step.expr)); err != nil {
			t.Fatal(err)
		}
		err := h.Reload(t.Context(), Request{Version: step.expr})
		if step.fault == "" && err != nil || step.fault != "" && (ReasonOf(err) != Rejected || !strings.Contains(err.Error(), step.fault)) {
			t.Errorf("%s: %v, want %q", step.expr, err, step.fault)
		}
		if groups, err := s.Rules(t.Context()); err != nil || len(groups) != 1 || step.fault == "" && groups[0].Rules[0].Query != step.expr {
			t.Errorf("%s: loaded %v, %v", step.expr, groups, err)
		}
	}
}
