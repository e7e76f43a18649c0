package rules

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// within is a cluster with ConfigMaps and a place for overflowing files.
type within struct {
	most     int
	live     []Bucket
	overflow map[string]string
}

// reconcile applies the writes of a plan one by one, checks the view of a reader of everything after each write, and
// keeps the result.
func (w *within) reconcile(t *testing.T, files map[string]string) Plan {
	t.Helper()
	p := PackWithin(base, w.live, wanted(files), w.most)
	now := map[string]map[string]string{"overflow": w.overflow}
	before := map[string][]string{}
	for _, b := range append([]Bucket{{Files: w.overflow}}, w.live...) {
		for name, content := range b.Files {
			before[name] = append(before[name], content)
		}
		if b.Name != "" {
			now[b.Name] = b.Files
		}
	}
	for i := range len(p.Steps) + 1 {
		if i == p.Late {
			now["overflow"] = map[string]string{}
			for _, name := range p.Overflow {
				now["overflow"][name] = files[name]
			}
			checkVisible(t, "after the overflow was written", now, before, files)
		}
		if i == len(p.Steps) {
			break
		}
		s := p.Steps[i]
		if s.Verb == Delete {
			delete(now, s.Name)
		} else {
			checkLimits(t, s)
			if _, known := now[s.Name]; !known {
				if index, _ := indexOf(base, s.Name); w.most > 0 && index >= w.most {
					t.Errorf("%s is made, the limit is %d", s.Name, w.most)
				}
			}
			now[s.Name] = s.Files
		}
		checkVisible(t, fmt.Sprintf("after step %d (%s %s)", i, s.Verb, s.Name), now, before, files)
	}
	w.keep(t, p, now, files)
	return p
}

func (w *within) keep(t *testing.T, p Plan, now map[string]map[string]string, files map[string]string) {
	t.Helper()
	w.overflow = now["overflow"]
	delete(now, "overflow")
	if d := slices.Sorted(maps.Keys(now)); !slices.Equal(d, p.Names) {
		t.Errorf("names = %v, the cluster has %v", p.Names, d)
	}
	merged := maps.Clone(w.overflow)
	w.live = nil
	for _, name := range p.Names {
		w.live = append(w.live, Bucket{Name: name, Files: now[name]})
		for f, content := range now[name] {
			if _, twice := merged[f]; twice {
				t.Errorf("%s is in two places", f)
			}
			merged[f] = content
		}
	}
	if !maps.Equal(merged, files) {
		t.Errorf("%d files at the end, not exactly the %d wanted", len(merged), len(files))
	}
}

func TestPackWithinRandomHistories(t *testing.T) {
	sizes := []byte{1, 60, 90, 127, 128, 148, 180, 181, 209, 240, 255}
	overflown, emptied, moved := 0, 0, 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		var story history
		for range 40 {
			op, size := byte(r.IntN(12))|128, sizes[r.IntN(len(sizes))]
			if r.IntN(4) == 0 {
				size = 0
			}
			story = append(story, op, size, byte(r.IntN(256)))
		}
		w := within{most: 1 + int(seed%3)}
		story.play(func(files map[string]string) {
			had, held := w.overflow, w.live
			p := w.reconcile(t, files)
			if len(p.Overflow) > 0 {
				overflown++
			} else if len(had) > 0 {
				emptied++
			}
			for _, name := range p.Overflow {
				if slices.ContainsFunc(held, func(b Bucket) bool { _, ok := b.Files[name]; return ok }) {
					moved++
				}
			}
			// Files that a plan leaves in the overflow although there is room are moved by the next one.
			for range 3 {
				if p = PackWithin(base, w.live, wanted(files), w.most); len(p.Steps) == 0 {
					break
				}
				p = w.reconcile(t, files)
			}
			if p = PackWithin(base, w.live, wanted(files), w.most); len(p.Steps) > 0 {
				t.Errorf("planning does not come to an end: %v", writes(p))
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if overflown < 200 || emptied < 30 || moved < 30 {
		t.Errorf("overflow %d times, emptied %d times, %d files moved there: the stories show too little", overflown, emptied, moved)
	}
}

func many(n, size int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("ns-%05d.yaml", i)] = strings.Repeat("x", size)
	}
	return out
}

func TestPackWithinFillsLikePackAndOneChangeIsOneWrite(t *testing.T) {
	files := many(500, 10_000)
	free, w := Pack(base, nil, wanted(files)), within{most: wellknown.MountedRuleConfigMaps}
	p := w.reconcile(t, files)
	if len(p.Names) != 3 || p.Late != len(p.Steps) {
		t.Fatalf("%v, late %d", p.Names, p.Late)
	}
	for i, s := range p.Steps {
		if !maps.Equal(s.Files, free.Steps[i].Files) {
			t.Errorf("%s differs from what it holds without a limit", s.Name)
		}
	}
	if n := 500 - 3*(MaxFileBytes/10_000); len(p.Overflow) != n {
		t.Errorf("%d files in overflow, want %d", len(p.Overflow), n)
	}
	files[p.Overflow[7]] = strings.Repeat("y", 10_000)
	if p := w.reconcile(t, files); len(p.Steps) > 0 {
		t.Errorf("a change outside wrote %v", writes(p))
	}
	files["ns-00000.yaml"] = strings.Repeat("y", 10_000)
	if p := w.reconcile(t, files); len(p.Steps) != 1 {
		t.Errorf("a change inside wrote %v", writes(p))
	}
	files["ns-00000.yaml"] = strings.Repeat("y", 20_000)
	if p := w.reconcile(t, files); len(p.Steps) != 1 || p.Late != 0 || !slices.Contains(p.Overflow, "ns-00000.yaml") {
		t.Errorf("a file that grew: %v, late %d", writes(p), p.Late)
	}
}

// TestPackWithinKeepsConfigMapsThatAreThere: existing ConfigMaps beyond a new limit stay in use.
func TestPackWithinKeepsConfigMapsThatAreThere(t *testing.T) {
	files := many(260, 10_000)
	var live []Bucket
	for _, s := range Pack(base, nil, wanted(files)).Steps {
		live = append(live, Bucket{Name: s.Name, Files: s.Files})
	}
	if len(live) != 5 {
		t.Fatalf("%d ConfigMaps", len(live))
	}
	w := within{most: 3, live: live}
	if p := w.reconcile(t, files); len(p.Steps) > 0 || len(p.Overflow) > 0 || len(p.Names) != 5 {
		t.Errorf("%v, overflow %v", writes(p), p.Overflow)
	}
}

func BenchmarkPackWithin(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			files := many(n, 10_000)
			var live []Bucket
			for _, s := range PackWithin(base, nil, wanted(files), 3).Steps {
				live = append(live, Bucket{Name: s.Name, Files: s.Files})
			}
			b.ReportAllocs()
			for b.Loop() {
				if p := PackWithin(base, live, wanted(files), 3); len(p.Steps) > 0 {
					b.Fatal(writes(p))
				}
			}
		})
	}
}
