package rules

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// compiledFiles returns rule files of about a third of a ConfigMap, by name.
func compiledFiles(contents map[string]string) Files {
	var out Files
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		object := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
		out = append(out, File{Object: object, CompressedFragment: newCompiled(Fragment{FileName: name, Content: contents[name]})})
	}
	return out
}

// What is kept of the last reconciliation has no effect on the result, whatever changed since: rules, ConfigMaps, their
// order, the number of ConfigMaps that may be used, or nothing.
func TestLastPlanIsNoState(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		var kept, none = &LastPlan{}, (*LastPlan)(nil)
		contents, files := map[string]string{}, Files(nil)
		var live []Bucket
		for step := range 40 {
			switch r.IntN(5) {
			case 0:
				contents[fmt.Sprint(r.IntN(12))] = strings.Repeat(fmt.Sprint(step%10), MaxFileBytes/(1+r.IntN(8)))
				files = compiledFiles(contents)
			case 1:
				delete(contents, fmt.Sprint(r.IntN(12)))
				files = compiledFiles(contents)
			case 2:
				r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
			}
			pack := func(l *LastPlan) Plan {
				if alone := step%7 == 0; !alone {
					return l.PackMounted(base, live, files)
				}
				plan, _ := l.PackAlone(base, live, slices.Clone(files))
				return plan
			}
			plan, want := pack(kept), pack(none)
			if diff := cmp.Diff(want, plan); diff != "" {
				t.Fatalf("seed %d, step %d: %s", seed, step, diff)
			}
			archive, err1 := kept.Archive(files, plan.Overflow)
			wantArchive, err2 := none.Archive(files, want.Overflow)
			if err1 != nil || err2 != nil || !maps.Equal(archive.Sums, wantArchive.Sums) || archive.Bytes != wantArchive.Bytes || !slices.Equal(archive.Pieces, wantArchive.Pieces) {
				t.Fatalf("seed %d, step %d: archive of %v, want %v (%v, %v)", seed, step, archive.Sums, wantArchive.Sums, err1, err2)
			}
			after := plan.Writes(live, func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }, files.Contents).Files
			if diff := cmp.Diff(none.Digests("/rules", after), kept.Digests("/rules", after)); diff != "" {
				t.Fatalf("seed %d, step %d: %s", seed, step, diff)
			}
			if r.IntN(2) == 0 { // the writes are in the cache
				live = nil
				for _, name := range slices.Sorted(maps.Keys(after)) {
					live = append(live, Bucket{name, maps.Clone(after[name])})
				}
			}
		}
	}
}

// A reconciliation in which no rule has changed plans, archives and hashes nothing.
func TestUnchangedRulesArePlannedOnce(t *testing.T) {
	contents := map[string]string{}
	for i := range 8 {
		contents[fmt.Sprint(i)] = strings.Repeat("x", MaxFileBytes*2/3)
	}
	files, live := compiledFiles(contents), []Bucket{{base + "-0", map[string]string{"0": "other"}}}
	var l LastPlan
	plan := l.PackMounted(base, live, files)
	archive, err := l.Archive(files, plan.Overflow)
	if err != nil || len(plan.Overflow) == 0 || len(archive.Sums) != len(plan.Overflow) {
		t.Fatalf("overflow %q, archive %v, error %v", plan.Overflow, archive.Sums, err)
	}
	allocations := testing.AllocsPerRun(10, func() {
		again := l.PackMounted(base, live, files)
		kept, err := l.Archive(files, again.Overflow)
		if err != nil || &again.Overflow[0] != &plan.Overflow[0] || &kept.Pieces[0] != &archive.Pieces[0] {
			t.Error("the plan is made again")
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
