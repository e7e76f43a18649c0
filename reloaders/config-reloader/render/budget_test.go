package render

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

// within recreates the renderer with a budget.
func (s *site) within(budget int64) {
	s.Renderer = New(Options{
		Files: []File{{s.vol.Path(key), s.out}}, Expander: expand.New(expand.Kubernetes, []string{"A=1"}), Budget: budget,
	})
}

func text(seed string, size int) string {
	return strings.Repeat(seed+"\n", size/(len(seed)+1)+1)[:size]
}

// If old and new do not fit together, the new output replaces the old one, whichever part
// differs, and nothing is left behind. An output that does not fit alone is rejected.
func TestReplaceInPlace(t *testing.T) {
	const budget = 400 << 10
	s := newSite(t)
	s.within(budget)
	rules := func(seed string, size int) map[string]string {
		return map[string]string{"a.yaml": text(seed, size/2), "b.yaml": text(seed+"b", size/2)}
	}
	for i, step := range []struct {
		config      string
		rules       map[string]string
		configParts int
		refused     bool
	}{
		{text("one", 300<<10), nil, 1, false},
		{text("two", 300<<10), nil, 1, false},
		{text("large", 400<<10), nil, 1, true},
		{text("three", 390<<10), nil, 1, false},
		{text("four", 200<<10), rules("r", 150<<10), 3, false},
		{text("four", 200<<10), rules("s", 150<<10), 3, false}, // only the rules
		{text("five", 200<<10), rules("s", 150<<10), 3, false}, // only the configuration
		{text("five", 200<<10), rules("t", 250<<10), 3, true},
		{text("six", 390<<10), nil, 1, false}, // rules removed
		{text("seven", 10<<10), nil, 1, false},
		{text("eight", 10<<10), rules("u", 20<<10), 2, false},
	} {
		before := ""
		if i > 0 {
			before = read(t, s.out)
		}
		s.vol.Swap(files(t, step.config, step.configParts, step.rules, min(len(step.rules), 2)))
		if step.refused {
			_, err := s.Render(t.Context())
			if err == nil || !strings.Contains(err.Error(), "--config-reloader-memory-limit") || read(t, s.out) != before {
				t.Errorf("step %d: %v", i, err)
			}
			continue
		}
		s.expect(step.config, step.rules)
		used, err := occupied([]File{{s.vol.Path(key), s.out}})
		must(t, err)
		if used > budget {
			t.Errorf("step %d: %d bytes of %d are in use", i, used, budget)
		}
		if left := s.leftovers(); slices.ContainsFunc(left, func(name string) bool { return strings.HasSuffix(name, ".tmp") }) {
			t.Errorf("step %d: left behind: %v", i, left)
		}
	}
}

// An incomplete input does not replace the output, however large it is: it is read
// completely before the old output is removed.
func TestReplaceInPlaceOnlyWhatIsWhole(t *testing.T) {
	s := newSite(t)
	s.within(400 << 10)
	old := text("old", 300<<10)
	s.vol.Swap(files(t, old, 1, nil, 0))
	s.expect(old, nil)
	for name, broken := range map[string]func(map[string]string){
		"the end is missing": func(m map[string]string) { m[key] = m[key][:len(m[key])-9] },
		"a part is another":  func(m map[string]string) { m["config-1.gz"] = "x" + m["config-1.gz"] },
	} {
		in := files(t, text("new", 300<<10), 3, nil, 0)
		if name == "the end is missing" {
			in = files(t, text("new", 300<<10), 1, nil, 0)
		}
		broken(in)
		s.vol.Swap(in)
		if _, err := s.Render(t.Context()); err == nil || read(t, s.out) != old {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// untilGone is a context that ends when a file is removed.
type untilGone struct {
	context.Context
	path string
}

// Err implements context.Context.
func (c untilGone) Err() error {
	if _, err := os.Stat(c.path); err != nil {
		return context.Canceled
	}
	return nil
}

// An output that was removed to make room is written, even if the program has to stop.
func TestStopWhileReplacing(t *testing.T) {
	s := newSite(t)
	s.within(400 << 10)
	s.vol.Swap(files(t, text("old", 300<<10), 1, nil, 0))
	s.expect(text("old", 300<<10), nil)
	config := text("new", 300<<10)
	s.vol.Swap(files(t, config, 1, nil, 0))
	if _, err := s.Render(untilGone{t.Context(), s.out}); err != nil || read(t, s.out) != config {
		t.Errorf("the output is not written: %v", err)
	}
}

// Outputs of an earlier run are not rewritten, because a server may be reading them.
func TestLargeOutputsSurviveARestart(t *testing.T) {
	s := newSite(t)
	s.within(400 << 10)
	config, rules := text("c", 200<<10), map[string]string{"a.yaml": text("r", 150<<10)}
	s.vol.Swap(files(t, config, 3, rules, 2))
	s.expect(config, rules)
	inodes := func() []os.FileInfo {
		a, err := os.Stat(s.out)
		must(t, err)
		b, err := os.Stat(filepath.Join(filepath.Dir(s.out), RulesDir, "a.yaml"))
		must(t, err)
		return []os.FileInfo{a, b}
	}
	before := inodes()
	s.within(400 << 10)
	s.expect(config, rules)
	if after := inodes(); !os.SameFile(before[0], after[0]) || !os.SameFile(before[1], after[1]) {
		t.Error("written again")
	}
}

// Wherever a run is interrupted, the next one completes the outputs.
func TestInterruptedReplacement(t *testing.T) {
	config, rules := text("new", 200<<10), map[string]string{"a.yaml": text("r", 150<<10)}
	for name, left := range map[string]func(dir string){
		"the output is gone": func(dir string) { must(t, os.Remove(filepath.Join(dir, "prometheus.env.yaml"))) },
		"the rules, too": func(dir string) {
			must(t, os.Remove(filepath.Join(dir, "prometheus.env.yaml")))
			must(t, os.Remove(filepath.Join(dir, RulesDir)))
		},
		"half of each is there": func(dir string) {
			must(t, os.Remove(filepath.Join(dir, RulesDir)))
			must(t, os.Rename(filepath.Join(dir, "prometheus.env.yaml"), filepath.Join(dir, "prometheus.env.yaml.tmp")))
			must(t, os.Mkdir(filepath.Join(dir, versionPrefix+"half"), 0o755))
			write(t, filepath.Join(dir, versionPrefix+"half", "a.yaml"), text("x", 100<<10))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.within(400 << 10)
			s.vol.Swap(files(t, text("old", 200<<10), 3, map[string]string{"a.yaml": text("o", 150<<10)}, 2))
			s.render()
			left(filepath.Dir(s.out))
			s.vol.Swap(files(t, config, 3, rules, 2))
			s.within(400 << 10)
			s.expect(config, rules)
			if n := len(s.leftovers()); n != 3 {
				t.Errorf("left behind: %v", s.leftovers())
			}
		})
	}
}

// Any sequence of sizes within the budget ends with the wanted outputs, even with
// restarts.
func TestBudgetOfAnySequence(t *testing.T) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := newSite(t)
		s.within(200 << 10)
		for step := range 12 {
			config, rules := text(fmt.Sprint("c", step), 1+r.IntN(90<<10)), map[string]string{}
			for i := range r.IntN(4) {
				rules[fmt.Sprintf("r%d.yaml", i)] = text(fmt.Sprint("r", step, i), 1+r.IntN(30<<10))
			}
			if r.IntN(3) == 0 {
				s.within(200 << 10)
			}
			if len(rules) == 0 {
				s.vol.Swap(files(t, config, 1, nil, 0))
			} else {
				s.vol.Swap(files(t, config, 1+r.IntN(3), maps.Clone(rules), 1+r.IntN(3)))
			}
			s.expect(config, rules)
		}
	}
}
