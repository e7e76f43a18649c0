package insight_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Equal problems form one group, independent of the position of the fault in the object. Groups include the problems
// beyond the limit of the list.
func TestGroups(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	of := catalog.ServiceMonitor.GroupVersionResource()
	for i := range 300 {
		s.monitor("demo", fmt.Sprintf("m%03d", i), "")
		m := s.objects[of][len(s.objects[of])-1].(*v1.ServiceMonitor)
		m.Spec.Endpoints = make([]v1.Endpoint, 1+i%3)
		for j := range m.Spec.Endpoints {
			m.Spec.Endpoints[j].Port = "http"
		}
		m.Spec.Endpoints[i%3].ScrapeTimeout, m.Spec.Endpoints[i%3].Interval = "20s", "10s"
	}
	s.monitor("demo", "other", "none")
	a := answers(t, s, nil)
	overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	w, err := a.Workload(t.Context(), everything, main)
	if err != nil {
		t.Fatal(err)
	}
	for name, groups := range map[string][]insight.AttentionGroup{"overview": overview.Groups, "workload": w.Groups} {
		if len(groups) != 2 || groups[0].Total != 300 || len(groups[0].Of) != 20 || !strings.Contains(groups[0].Message, "endpoints[…]") || groups[1].Of[0].Object.Name != "other" {
			t.Errorf("%s: %+v", name, groups)
		}
	}
	if w.AttentionTotal != 301 || len(w.Attention) != 100 {
		t.Errorf("%d problems, %d listed", w.AttentionTotal, len(w.Attention))
	}
}

// The numbers of workloads by level do not depend on the filter by it, which selects workloads and
// their problems.
func TestLevels(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	s.monitor("demo", "bad", "none")
	a := answers(t, s, nil)
	for level, want := range map[insight.Level]string{"": "2 workloads, 1 groups", insight.LevelBroken: "1 workloads, 1 groups", insight.LevelGood: "1 workloads, 0 groups", insight.LevelWarning: "0 workloads, 0 groups"} {
		out, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page, Level: level})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d workloads, %d groups", len(out.Workloads), len(out.Groups)); got != want || out.Levels[insight.LevelBroken] != 1 || out.Levels[insight.LevelGood] != 1 {
			t.Errorf("%q: %s, %v", level, got, out.Levels)
		}
	}
	for q, want := range map[insight.OverviewQuery]int{{Kind: "Alertmanager"}: 0, {Kind: "Prometheus"}: 2, {Namespace: "other"}: 1} {
		q.Page = page
		if out, err := a.Overview(t.Context(), everything, q); err != nil || len(out.Workloads) != want {
			t.Errorf("%+v: %+v, %v", q, out, err)
		}
	}
}

// The message in the row of a workload names the object that it is about.
func TestRowNamesTheObject(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	s.monitor("demo", "bad", "none")
	out, err := answers(t, s, nil).Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil || !strings.HasPrefix(out.Workloads[0].Message, "ServiceMonitor demo/bad: ") {
		t.Errorf("%v, %+v", err, out)
	}
}

// A workload lists when objects were accepted and rejected, while pages are open.
func TestChangesOfObjects(t *testing.T) {
	s := &versioned{loaded(t, []byte(selectsAll)), 1}
	s.monitor("demo", "web", "")
	a := answers(t, s, nil)
	history := func() (out []string) {
		w, err := a.Workload(t.Context(), everything, main)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range w.Changes {
			if c.Object.Name != "" {
				out = append(out, c.Object.Name+" "+c.What)
			}
		}
		return out
	}
	if got := history(); len(got) > 0 {
		t.Errorf("before a change: %v", got)
	}
	s.monitor("demo", "web", "none")
	s.change()
	if got := fmt.Sprint(history()); got != "[web rejected]" {
		t.Errorf("rejected: %s", got)
	}
	for i := range 50 {
		s.monitor("demo", fmt.Sprintf("m%02d", i), "")
	}
	s.change()
	if got := history(); len(got) != 20 || got[0] != "m00 accepted" {
		t.Errorf("many: %v", got)
	}
}

// The web interface is spec.externalUrl only if a browser may safely open it.
func TestUI(t *testing.T) {
	for external, want := range map[string]string{
		"https://prom.example/x": "https://prom.example/x", "javascript:alert(1)": "", "//evil.example": "", "https://user:canary@prom.example/": "", "https://prom.example/?token=canary": "",
	} {
		s := loaded(t, []byte(strings.Replace(selectsAll, "spec: {", "spec: {externalUrl: \""+external+"\", ", 1)))
		w, err := answers(t, s, nil).Workload(t.Context(), everything, main)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.UI; want == "" && got != nil || want != "" && (got == nil || got.URL != want) {
			t.Errorf("%s: %+v", external, got)
		}
	}
}
