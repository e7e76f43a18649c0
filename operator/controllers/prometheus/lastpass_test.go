package prometheus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPassesRememberNothingWrong changes, adds and removes monitors at random, and
// compares reconciliations with and without cached results.
func TestPassesRememberNothingWrong(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	all := serviceMonitors(200)
	spare := all[100:]
	all = all[:100]
	kept := pass(&all)
	for round := range 60 {
		for range random.IntN(4) {
			i := random.IntN(len(all))
			switch random.IntN(4) {
			case 0: // a new version
				changed := all[i].DeepCopy()
				changed.Generation++
				changed.ResourceVersion = fmt.Sprint(changed.Generation)
				changed.Spec.Endpoints[0].Path = fmt.Sprintf("/metrics/%d", round)
				all[i] = changed
			case 1: // the same version, as from a relist
				all[i] = all[i].DeepCopy()
			case 2:
				all, spare = slices.Delete(all, i, i+1), append(spare, all[i])
			case 3:
				all, spare = append(all, spare[0]), spare[1:]
			}
		}
		if round%10 == 9 { // change the workload's settings and back
			kept.owner.Generation++
			kept.owner.Spec.OverrideHonorLabels = !kept.owner.Spec.OverrideHonorLabels
		}
		fresh := pass(&all)
		fresh.owner = kept.owner
		got, want := sums(t, kept), sums(t, fresh)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d monitors, want %d: the contents differ", round, len(got), len(want))
		}
	}
	if n := kept.family.monitors.Compilations(); n > 900 {
		t.Errorf("%d compilations: nothing was remembered", n)
	}
}

func sums(t *testing.T, b *bench) []string {
	t.Helper()
	in, err := b.gather(forServer(b.owner), b.cluster)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for m := range in.Monitors.All() {
		out = append(out, fmt.Sprintf("%s/%s %x", m.Object.GetNamespace(), m.Object.GetName(), m.Piece.Sum()))
	}
	return out
}
