package chaos

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// complete is whether everything is run, and covered.json and docs/reliability.md are written: FIREKEEPER_CHAOS is "all",
// or a duration after which no further case begins.
var complete, until = func() (bool, time.Time) {
	text := os.Getenv("FIREKEEPER_CHAOS")
	if lasts, err := time.ParseDuration(text); err == nil {
		return true, time.Now().Add(lasts)
	}
	return text != "", time.Time{}
}()

// over reports whether no further case should begin.
func over() bool { return !until.IsZero() && time.Now().After(until) }

// record collects what was run.
var record struct {
	sync.Mutex
	covered Coverage
}

// try runs one of several cases, and counts it unless -run leaves it out.
func try(t *testing.T, fault, scenario string, of int, name string, do func(t *testing.T)) (ok bool) {
	t.Helper()
	ran := false
	ok = t.Run(name, func(t *testing.T) { ran = true; do(t) })
	if ran {
		count(fault, scenario, of, ok)
	}
	return ok
}

// count adds the result of one of several runs to the record.
func count(fault, scenario string, of int, ok bool) {
	record.Lock()
	defer record.Unlock()
	if record.covered == nil {
		record.covered = Coverage{}
	}
	if record.covered[fault] == nil {
		record.covered[fault] = map[string]Cell{}
	}
	cell := record.covered[fault][scenario]
	cell.Of = of
	if ok {
		cell.Done++
	}
	record.covered[fault][scenario] = cell
}

// write adds the record to covered.json, and writes the page.
func write() error {
	record.Lock()
	defer record.Unlock()
	have, err := os.ReadFile("covered.json") // other runs may have written it since this program was built
	if err != nil {
		return err
	}
	covered := Coverage{}
	if err := json.Unmarshal(have, &covered); err != nil {
		return err
	}
	for fault, cells := range record.covered {
		if covered[fault] == nil {
			covered[fault] = map[string]Cell{}
		}
		for scenario, cell := range cells {
			covered[fault][scenario] = cell
		}
	}
	raw, err := json.MarshalIndent(covered, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile("covered.json", append(raw, '\n'), 0o644); err != nil {
		return err
	}
	text, err := page(covered)
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(text), 0o644)
}

var pageFile = filepath.Join("..", "..", "..", "docs", "reliability.md")

var update = flag.Bool("update", false, "write docs/reliability.md from what was recorded")

// The page says what is in covered.json, about the faults and scenarios that exist, and each fault was run.
func TestPage(t *testing.T) {
	want, err := Page()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(pageFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("docs/reliability.md is not current; run make chaos, or this test with -update")
	}
	covered := Coverage{}
	if err := json.Unmarshal(coveredJSON, &covered); err != nil {
		t.Fatal(err)
	}
	steps := map[string]int{}
	for _, s := range Scenarios() {
		steps[s.Name] = len(s.Steps)
	}
	for _, f := range all() {
		if len(covered[f.Name]) == 0 {
			t.Errorf("%q was not run; run make chaos", f.Name)
		}
	}
	for _, f := range Faults() {
		for name, cell := range covered[f.Name] {
			if cell.Of != steps[name] {
				t.Errorf("%q was run with %d steps of %s, and there are %d; run make chaos", f.Name, cell.Of, name, steps[name])
			}
		}
	}
}

// Some faults and kill points, chosen by a seed, that `make integration` has time for.
func TestPart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	if complete {
		t.Skip("all of it is run")
	}
	seed := rand.Uint64()
	if text := os.Getenv("FIREKEEPER_CHAOS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(os.Stderr, "chaos: FIREKEEPER_CHAOS_SEED=%d repeats this part\n", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	names := []string{"shards", "recreations"}
	c := newCycle(t, shared(t), scenario(t, names[random.IntN(len(names))]))
	faults := random.Perm(len(Faults()))
	for i := range partRuns {
		step := c.Steps[c.next].Name
		if i%2 == 0 {
			points := c.points(c.next)
			at := points[random.IntN(len(points))]
			t.Run(fmt.Sprintf("%s %s %s", step, at.When(), at.Call), func(t *testing.T) { c.killed(t, at) })
		} else {
			f := Faults()[faults[i/2]]
			if f.Name == "no permissions" {
				continue // reflectors and polling recover within minutes
			}
			t.Run(fmt.Sprintf("%s %s", f.Name, step), func(t *testing.T) { c.disturbed(t, f.Name) })
		}
		if t.Failed() {
			return
		}
	}
}

// partRuns is the number of kill points and faults of a part, half of them each.
const partRuns = 12
