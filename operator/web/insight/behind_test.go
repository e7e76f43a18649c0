package insight_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// A workload whose compiled objects exceed the memory limit is recompiled only after a pause. Its
// page has a note on that, and objects added during the pause are unknown.
func TestAWorkloadThatIsNotKept(t *testing.T) {
	var open atomic.Int32
	var gone []string
	c := &clock{at: time.Now()}
	s := &versioned{loaded(t, cluster(1, 2)), 1}
	a := insight.New(insight.Parts{Reader: s, Setups: watchedSetups(&open, &gone), Fresh: setups, Now: c.now})
	const note = "takes more memory than there is to keep it here"
	states := func() (states map[status.State]int, behind bool) {
		t.Helper()
		page, err := a.Sources(t.Context(), everything, insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "ns0", Name: "p0"}}, insight.SourceQuery{Page: insight.Page{Limit: 10}})
		if err != nil {
			t.Fatal(err)
		}
		states = map[status.State]int{}
		for _, item := range page.Items {
			if states[item.State]++; item.State == status.Accepted && len(item.Jobs) == 0 {
				t.Errorf("%s has no jobs", item.Ref)
			}
		}
		return states, strings.Contains(strings.Join(page.Unread, "\n"), note)
	}
	if got, behind := states(); got[status.Accepted] != 2 || behind {
		t.Fatalf("with enough memory: %v, behind %t", got, behind)
	}
	a.KeepAtMost(1)
	add := func(name string) {
		for row, all := range loaded(t, []byte(strings.ReplaceAll(string(cluster(1, 1)), "m0", name))).objects {
			if row.Resource == "servicemonitors" {
				s.objects[row] = append(s.objects[row], all...)
			}
		}
		s.change()
	}
	add("m2")
	if got, behind := states(); got[status.Accepted] != 3 || !behind || open.Load() != 0 {
		t.Errorf("a change: %v, behind %t, %d gatherers", got, behind, open.Load())
	}
	add("m3")
	if got, behind := states(); got[status.Accepted] != 3 || got[status.Unknown] != 1 || !behind {
		t.Errorf("in the pause: %v, behind %t", got, behind)
	}
	c.pass(time.Minute)
	s.change()
	if got, behind := states(); got[status.Accepted] != 4 || !behind {
		t.Errorf("after the pause: %v, behind %t", got, behind)
	}
	a.KeepAtMost(1 << 30)
	add("m4")
	c.pass(time.Minute)
	s.change()
	if got, behind := states(); got[status.Accepted] != 5 || behind || open.Load() != 1 {
		t.Errorf("with enough memory again: %v, behind %t, %d gatherers", got, behind, open.Load())
	}
}
