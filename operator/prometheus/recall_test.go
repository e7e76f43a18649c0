package prometheus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestPassesRememberNothingWrong changes, adds and removes monitors at random
// and compares passes that remember with ones that do not.
func TestPassesRememberNothingWrong(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	all := monitors(200)
	spare := all[100:]
	all = all[:100]
	g, p := pass(nil)
	for round := range 60 {
		for range random.IntN(4) {
			i := random.IntN(len(all))
			switch random.IntN(4) {
			case 0: // another version
				changed := all[i].DeepCopy()
				changed.Generation++
				changed.Spec.Endpoints[0].Path = fmt.Sprintf("/metrics/%d", round)
				all[i] = changed
			case 1: // the same version from a new listing
				all[i] = all[i].DeepCopy()
			case 2:
				all, spare = slices.Delete(all, i, i+1), append(spare, all[i])
			case 3:
				all, spare = append(all, spare[0]), spare[1:]
			}
		}
		if round%10 == 9 { // other settings of the owner, and back
			p.Generation++
			p.Spec.OverrideHonorLabels = !p.Spec.OverrideHonorLabels
		}
		fresh, _ := pass(nil)
		g.cluster.ServiceMonitors, fresh.cluster.ServiceMonitors = slices.Values(all), slices.Values(all)
		got, want := sums(t, g, p), sums(t, fresh, p)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d monitors, want %d: the contents differ", round, len(got), len(want))
		}
	}
	if n := g.compilers.Monitors.Compilations(); n > 900 {
		t.Errorf("%d compilations: nothing was remembered", n)
	}
}

func sums(t *testing.T, g *gatherer, p *v1.Prometheus) []string {
	t.Helper()
	in, err := g.Gather(ForServer(p), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range in.Monitors {
		out = append(out, fmt.Sprintf("%s/%s %x", m.Object.GetNamespace(), m.Object.GetName(), m.Piece.Sum()))
	}
	return out
}

func TestRecallForgetsWithTheSettings(t *testing.T) {
	var r recall[int]
	m := monitors(1)[0]
	r.begin("a")
	r.note(v1.ServiceMonitorKind, m, 7)
	r.begin("a")
	if got, ok := r.find(v1.ServiceMonitorKind, m); !ok || got != 7 {
		t.Errorf("under the same settings: %d, %v", got, ok)
	}
	if _, ok := r.find(v1.PodMonitorKind, m); ok {
		t.Error("found under another kind")
	}
	r.note(v1.ServiceMonitorKind, m, 7)
	r.begin("b")
	if _, ok := r.find(v1.ServiceMonitorKind, m); ok {
		t.Error("found under other settings")
	}
}
