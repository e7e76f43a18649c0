package workload

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Pods of the split layout mount a fixed number of optional Secrets. The single layout
// only mounts existing ones.
func TestTLSAssetsOfTheLayouts(t *testing.T) {
	for layout, want := range map[Layout]string{LayoutSplit: "8 8 8 9", LayoutSingle: "1 1 3 9"} {
		b := widget("main", v1.WorkloadFields{}, Config{Layout: layout})
		var counts []int
		for _, n := range []int{0, 1, 3, 9} {
			sources := b.TLSAssets(n).Projected.Sources
			counts = append(counts, len(sources))
			for i, s := range sources {
				optional := s.Secret.Optional != nil && *s.Secret.Optional
				if s.Secret.Name != b.TLSAssetSecretName(i) || optional != (layout == LayoutSplit) {
					t.Errorf("%s: source %d is %+v", layout, i, s.Secret)
				}
			}
		}
		if got := fmt.Sprintf("%d %d %d %d", counts[0], counts[1], counts[2], counts[3]); got != want {
			t.Errorf("%s: %s sources, want %s", layout, got, want)
		}
	}
}

// References of selected objects change neither the volume nor the hash of the pod.
func TestTLSAssetsChangeNoPod(t *testing.T) {
	b := widget("main", v1.WorkloadFields{}, Config{Layout: LayoutSplit})
	want, err := b.HashOf(nil, hashInputs{TLSSecrets: 1})
	if err != nil {
		t.Fatal(err)
	}
	for n := range minMountedTLSAssets + 1 {
		got, err := b.HashOf(nil, hashInputs{TLSSecrets: n})
		if err != nil || got != want || !reflect.DeepEqual(b.TLSAssets(n), b.TLSAssets(1)) {
			t.Errorf("%d Secrets: hash %s, want %s, %v", n, got, want, err)
		}
	}
}

// Files of MaxTLSAssetBytes in total fit into the mounted Secrets for all sizes and all
// orders of additions and removals.
func TestTLSAssetsFit(t *testing.T) {
	b := widget("main", v1.WorkloadFields{}, Config{Layout: LayoutSplit})
	content := make([]byte, budget.TLSFileBytes)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		files, held, total := map[string][]byte{}, map[string]int{}, 0
		for step := range 60 {
			for name, c := range maps.Clone(files) { // some files are removed, or grow and shrink
				if r.IntN(3) == 0 {
					total -= len(name) + len(c)
					delete(files, name)
				}
			}
			for range 40 {
				name := fmt.Sprintf("file-%d-%d", step, r.IntN(60))
				size := r.IntN(len(content) + 1)
				if r.IntN(2) == 0 {
					size = len(content) // the largest files waste most space
				}
				if _, there := files[name]; there || total+len(name)+size > MaxTLSAssetBytes {
					continue
				}
				files[name], total = content[:size], total+len(name)+size
			}
			secrets := b.TLSAssetSecrets(files, held)
			if len(secrets) > minMountedTLSAssets {
				t.Fatalf("seed %d, step %d: %d bytes in %d Secrets, pods mount %d", seed, step, total, len(secrets), minMountedTLSAssets)
			}
			clear(held)
			for i, s := range secrets {
				for name := range s.Data {
					held[name] = i
				}
			}
		}
	}
}

// Rules can grow into ConfigMaps that every pod already mounts: three if the
// configuration carries the others, ten otherwise.
func TestPadRuleConfigMapsOfKinds(t *testing.T) {
	for name, c := range map[string]struct {
		layout  Layout
		carries bool
		image   string
		want    int
	}{
		"split":                         {LayoutSplit, false, ownReloader, 10},
		"with the configuration":        {LayoutSplit, true, ownReloader, 3},
		"a reloader that cannot do so":  {LayoutSplit, true, "quay.io/other/reloader:v1", 10},
		"single repeats well-known pod": {LayoutSingle, false, ownReloader, 3},
	} {
		b := widget("main", v1.WorkloadFields{}, Config{Layout: c.layout, ConfigReloaderImage: c.image})
		b.Kind.ConfigCarriesRules = c.carries
		if got := len(b.PadRuleConfigMaps([]string{"widget-main-rulefiles-0"})); got != c.want {
			t.Errorf("%s: %d ConfigMaps, want %d", name, got, c.want)
		}
	}
}

// Rules of a tenant that grow and shrink in a loop change the pods at most four times.
func TestGrowRuleConfigMaps(t *testing.T) {
	b := widget("main", v1.WorkloadFields{}, Config{Layout: LayoutSplit})
	var live *appsv1.StatefulSet
	mounted, changes := 0, 0
	for round := range 3 {
		for _, n := range []int{1, 10, 11, 10, 12, 3, 20, 21, 1, 39, 41, 40, 79, 81, 100, 99} {
			var names []string
			for i := range n {
				names = append(names, wellknown.RuleConfigMapName(b.RuleConfigMapBase(), i))
			}
			got := b.GrowRuleConfigMaps(names, live)
			for _, name := range names {
				if !slices.Contains(got, name) {
					t.Fatalf("%d: pods do not mount %s", n, name)
				}
			}
			if len(got) != mounted && live != nil {
				changes++
			}
			if len(got) < mounted || len(got) > 100 || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("round %d, %d ConfigMaps: mounts %d after %d", round, n, len(got), mounted)
			}
			mounted = len(got)
			live = &appsv1.StatefulSet{}
			live.Spec.Template.Spec.Volumes = RuleVolumes(got)
		}
	}
	if changes != 4 || mounted != 100 {
		t.Errorf("pods changed %d times and mount %d", changes, mounted)
	}
	b.Config.Layout = LayoutSingle
	if got := b.GrowRuleConfigMaps([]string{"widget-main-rulefiles-0"}, live); len(got) != 1 {
		t.Errorf("the reference's layout has %d", len(got))
	}
}
