package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// follow applies the writes of a plan one by one, checks the view of a reader of all ConfigMaps after each write, and
// returns the resulting ConfigMaps. files are the wanted ones; none exceeds the limit of a ConfigMap.
func follow(t *testing.T, base string, live []Bucket, p Plan, files map[string]string) []Bucket {
	t.Helper()
	now := map[string]map[string]string{}
	before := map[string][]string{} // all previous contents of a file
	for _, b := range live {
		if _, ours := indexOf(base, b.Name); !ours {
			continue
		}
		now[b.Name] = b.Files
		for name, content := range b.Files {
			before[name] = append(before[name], content)
		}
	}
	for i, s := range p.Steps {
		if _, ours := indexOf(base, s.Name); !ours {
			t.Fatalf("step %d writes %s, which is not ours", i, s.Name)
		}
		if s.Verb == Delete {
			if _, ok := now[s.Name]; !ok {
				t.Errorf("step %d deletes %s, which does not exist", i, s.Name)
			}
			delete(now, s.Name)
		} else {
			if old, ok := now[s.Name]; ok && maps.Equal(old, s.Files) {
				t.Errorf("step %d writes %s without a change", i, s.Name)
			}
			now[s.Name] = s.Files
			checkLimits(t, s)
		}
		checkVisible(t, fmt.Sprintf("after step %d (%s %s)", i, s.Verb, s.Name), now, before, files)
	}

	if d := slices.Sorted(maps.Keys(now)); !slices.Equal(d, p.Names) {
		t.Errorf("names = %v, the cluster has %v", p.Names, d)
	}
	merged := map[string]string{}
	out := []Bucket{}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		for f, content := range now[name] {
			if _, twice := merged[f]; twice {
				t.Errorf("%s is in two ConfigMaps", f)
			}
			merged[f] = content
		}
		out = append(out, Bucket{Name: name, Files: now[name]})
	}
	if !maps.Equal(merged, files) {
		t.Errorf("the ConfigMaps hold %d files at the end, not exactly the %d wanted", len(merged), len(files))
	}
	if again := Pack(base, out, wanted(files)); len(again.Steps) > 0 {
		t.Errorf("planning once more writes again: %v", writes(again))
	}
	return out
}

// checkVisible checks that a file in both states is visible, with the content of one of them.
func checkVisible(t *testing.T, when string, now map[string]map[string]string, before map[string][]string, files map[string]string) {
	t.Helper()
	for name, want := range files {
		if _, common := before[name]; !common {
			continue
		}
		seen := false
		for _, b := range now {
			content, ok := b[name]
			seen = seen || ok
			if ok && content != want && !slices.Contains(before[name], content) {
				t.Errorf("%s: %s has a content it never had", when, name)
			}
		}
		if !seen {
			t.Errorf("%s: %s is gone", when, name)
		}
	}
}

func checkLimits(t *testing.T, s Step) {
	t.Helper()
	content, total := 0, 0
	for name, c := range s.Files {
		content += len(c)
		total += len(name) + len(c)
	}
	if content > MaxFileBytes || total > 1<<20 {
		t.Errorf("%s: %d bytes of content, %d with keys", s.Name, content, total)
	}
}

// history is a sequence of changes. Each 3 bytes set or remove one of 64 files; an op
// with the high bit set is followed by a reconciliation. Lengths go up to the limit in
// uneven steps, to cover all edge cases.
type history []byte

func (h history) play(reconcile func(files map[string]string)) {
	files := map[string]string{}
	for len(h) >= 3 {
		op, size, fill := h[0], int(h[1]), h[2]
		h = h[3:]
		name := fmt.Sprintf("ns-%02d.yaml", op%64)
		if size == 0 {
			delete(files, name)
		} else {
			n := min(size*size*8+int(fill), MaxFileBytes)
			files[name] = strings.Repeat(string('a'+rune(fill%26)), n)
		}
		if op >= 128 {
			reconcile(files)
		}
	}
	reconcile(files)
}

func FuzzPackReader(f *testing.F) {
	f.Add([]byte{0x80, 200, 1, 0x81, 200, 2, 0x82, 200, 3, 0x81, 0, 0, 0x80, 210, 1})
	f.Add([]byte{1, 180, 1, 2, 180, 2, 3, 180, 3, 0x84, 180, 4, 1, 190, 1, 2, 190, 2, 3, 190, 3, 0x84, 190, 4, 1, 0, 0, 0x82, 0, 0})
	f.Add([]byte{1, 255, 255, 2, 1, 1, 0x83, 255, 255, 1, 0, 0, 0x83, 0, 0})
	f.Fuzz(func(t *testing.T, story []byte) {
		if len(story) > 300 {
			t.Skip("long stories show nothing more")
		}
		var live []Bucket
		history(story).play(func(files map[string]string) {
			p := Pack(base, live, wanted(files))
			shuffled := slices.Clone(live)
			slices.Reverse(shuffled)
			if a, b := writes(p), writes(Pack(base, shuffled, wanted(maps.Clone(files)))); !slices.Equal(a, b) {
				t.Fatalf("not deterministic:\n%v\n%v", a, b)
			}
			checkCutOff(t, live, p, files)
			live = follow(t, base, live, p, maps.Clone(files))
		})
	})
}

// checkCutOff checks that after an interruption at any step, the next plan results in the
// wanted files, and nothing is missing in between.
func checkCutOff(t *testing.T, live []Bucket, p Plan, files map[string]string) {
	t.Helper()
	for cut := 1; cut < len(p.Steps); cut++ {
		half := slices.Clone(live)
		for _, s := range p.Steps[:cut] {
			half = slices.DeleteFunc(half, func(b Bucket) bool { return b.Name == s.Name })
			if s.Verb == Upsert {
				half = append(half, Bucket{Name: s.Name, Files: s.Files})
			}
		}
		follow(t, base, half, Pack(base, half, wanted(files)), maps.Clone(files))
	}
}

// FuzzPackOneChange: changing one file within its room is exactly one write.
func FuzzPackOneChange(f *testing.F) {
	f.Add([]byte{1, 200, 1, 2, 200, 2, 3, 200, 3, 0x84, 200, 4, 5, 20, 1, 6, 180, 1}, uint8(2))
	f.Fuzz(func(t *testing.T, story []byte, which uint8) {
		if len(story) > 300 {
			t.Skip("long stories show nothing more")
		}
		var live []Bucket
		final := map[string]string{}
		history(story).play(func(files map[string]string) {
			live = follow(t, base, live, Pack(base, live, wanted(files)), maps.Clone(files))
			final = maps.Clone(files)
		})
		if len(final) == 0 {
			t.Skip("no file to change")
		}
		names := slices.Sorted(maps.Keys(final))
		name := names[int(which)%len(names)]
		final[name] = strings.Repeat("!", len(final[name])) // same length, so it fits
		p := Pack(base, live, wanted(final))
		if len(p.Steps) != 1 || p.Steps[0].Verb != Upsert {
			t.Errorf("one changed file: %v", writes(p))
		}
		follow(t, base, live, p, final)
	})
}
