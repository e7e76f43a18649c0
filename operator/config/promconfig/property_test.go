package promconfig

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// eachInput calls f with the inputs of every golden file.
func eachInput(t *testing.T, f func(t *testing.T, read func() *goldenInput)) {
	done := map[string]bool{}
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		want, _ := c.Input(golden.Want + name)
		if done[t.Name()] {
			return want, nil
		}
		done[t.Name()] = true
		f(t, func() *goldenInput {
			w, err := readInput(c)
			if err != nil {
				t.Fatal(err)
			}
			return w
		})
		return want, nil
	})
}

// TestDeterministic: the same input in any order results in the same bytes, and the input is not modified.
func TestDeterministic(t *testing.T) {
	eachInput(t, func(t *testing.T, read func() *goldenInput) {
		first, err := read().render()
		if err != nil {
			return
		}
		w := read()
		before := w.copies()
		for range 20 {
			rand.Shuffle(len(w.services), func(i, j int) { w.services[i], w.services[j] = w.services[j], w.services[i] })
			rand.Shuffle(len(w.pods), func(i, j int) { w.pods[i], w.pods[j] = w.pods[j], w.pods[i] })
			rand.Shuffle(len(w.probes), func(i, j int) { w.probes[i], w.probes[j] = w.probes[j], w.probes[i] })
			rand.Shuffle(len(w.scrapes), func(i, j int) { w.scrapes[i], w.scrapes[j] = w.scrapes[j], w.scrapes[i] })
			again, err := w.render()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first.text, again.text) || !slices.Equal(first.dropped, again.dropped) || !slices.Equal(first.files, again.files) {
				t.Fatal("two runs differ")
			}
		}
		if w.copies() != before {
			t.Error("an input was changed")
		}
	})
}

// TestDroppedBelow: keys that are dropped for a version are also dropped for every older
// version, except for removed keys.
func TestDroppedBelow(t *testing.T) {
	eachInput(t, func(t *testing.T, read func() *goldenInput) {
		above := map[string]bool{}
		for _, version := range slices.Backward(supportedVersions) {
			w := read()
			w.setVersion(version)
			out, err := w.render()
			if err != nil {
				return // removed keys have a separate rule
			}
			now := map[string]bool{}
			for _, d := range append(out.frame.Dropped, w.dropped()...) {
				if d.Need[0] == '>' {
					now[d.Path] = true
				}
			}
			for path := range above {
				if !now[path] && !coveredBy(path, now) {
					t.Errorf("%s is written for %s but not for newer versions", path, version)
				}
			}
			above = now
		}
	})
}

// coveredBy reports whether an enclosing block of the path was dropped.
func coveredBy(path string, dropped map[string]bool) bool {
	for d := range dropped {
		if len(path) > len(d) && path[:len(d)] == d && (path[len(d)] == '.' || path[len(d)] == '[') {
			return true
		}
	}
	return false
}

// FuzzShardJobs: additional jobs are either rejected or result in strict YAML with the
// same number of jobs, deterministically.
func FuzzShardJobs(f *testing.F) {
	paths, _ := filepath.Glob("testdata/sharding_*.txtar")
	for _, path := range paths {
		if a, err := txtar.ParseFile(path); err == nil {
			for _, file := range a.Files {
				f.Add(file.Data)
			}
		}
	}
	f.Add([]byte("- job_name: a\n  relabel_configs: [{action: hashmod}]\n- {}\n- relabel_configs: []\n  relabel_configs: [{a: b}]\n"))
	f.Add([]byte("- &a {job_name: a, x: &b [1]}\n- *a\n- {<<: *a, y: *b}\n"))
	s := settingsOf(f, `{shards: 3}`)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4096 {
			return
		}
		once, n, err := sharded(text, s)
		if err != nil {
			return
		}
		again, _, err := sharded(text, s)
		if err != nil || !bytes.Equal(once, again) {
			t.Fatalf("two runs differ: %v\n%s\n%s", err, once, again)
		}
		back, err := parseAdditional(once)
		if err != nil || len(back) != n {
			t.Fatalf("%d jobs, %d read back, %v\n%s", n, len(back), err, once)
		}
		for _, job := range back {
			if job[len(job)-1].Key != "relabel_configs" {
				t.Errorf("relabel_configs is not last in\n%s", once)
			}
		}
	})
}
