package render

import (
	"archive/tar"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

func TestGrowthAndShrink(t *testing.T) {
	config := func(i int) string { return fmt.Sprintf("version %d: $(A)\n%s", i, strings.Repeat("x: y\n", 500)) }
	expanded := func(i int) string { return strings.ReplaceAll(config(i), "$(A)", "1") }
	one, two := map[string]string{"a.yaml": "1"}, map[string]string{"a.yaml": "2", "b.yaml": "3"}
	s := newSite(t)
	for i, step := range []struct {
		n, m  int
		rules map[string]string
	}{{1, 0, nil}, {2, 0, nil}, {5, 0, nil}, {5, 1, one}, {3, 3, two}, {1, 2, two}, {1, 1, one}, {3, 1, one}, {2, 0, nil}, {1, 0, nil}} {
		for range 2 { // with a running renderer and with a new one
			s.vol.Swap(files(t, config(i), step.n, step.rules, step.m))
			s.expect(expanded(i), step.rules)
			if res := s.render(); res.Written {
				t.Errorf("step %d: the same again was written", i)
			}
			s.restart()
		}
	}
	if left := s.leftovers(); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// Every inconsistent state is an error, and the previous output is kept.
func TestMixedStatesAreWaitedOut(t *testing.T) {
	before := map[string]string{"a.yaml": "1"}
	next := files(t, "next", 3, map[string]string{"a.yaml": "2"}, 2)
	swapped := func(a, b string) map[string]string {
		out := maps.Clone(next)
		out[a], out[b] = out[b], out[a]
		return out
	}
	with := func(name, text string) map[string]string {
		out := maps.Clone(next)
		out[name] = text
		return out
	}
	without := func(names ...string) map[string]string {
		out := maps.Clone(next)
		for _, name := range names {
			delete(out, name)
		}
		return out
	}
	old := files(t, "before", 3, before, 2)
	for name, tc := range map[string]struct {
		state map[string]string
		want  []string
	}{
		"a part is missing":                {without("config-2.gz"), []string{"config-2.gz (missing)"}},
		"two parts are missing":            {without("config-1.gz", "rules-12.tar.gz"), []string{"config-1.gz (missing)", "rules-12.tar.gz (missing)"}},
		"the configuration is missing":     {without(key), []string{key + " (missing)"}},
		"a part is old":                    {with("config-1.gz", old["config-1.gz"]), []string{"config-1.gz (another version)"}},
		"a part of the rules is old":       {with("rules-11.tar.gz", old["rules-11.tar.gz"]), []string{"rules-11.tar.gz (another version)"}},
		"only the list is old":             {with(parts.ListName, old[parts.ListName]), nil},
		"only the list is new":             {with(parts.ListName, old[parts.ListName]), nil},
		"a part is cut off":                {with("config-2.gz", next["config-2.gz"][:5]), []string{"config-2.gz (another version)"}},
		"a part is empty":                  {with("config-2.gz", ""), []string{"config-2.gz (another version)"}},
		"parts in each other's places":     {swapped("config-1.gz", "config-2.gz"), []string{"config-1.gz (another version)", "config-2.gz (another version)"}},
		"the beginning in another's place": {swapped(key, "config-2.gz"), []string{key + " (another version)", "config-2.gz (another version)"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.vol.Swap(files(t, "before", 2, before, 1))
			s.expect("before", before)
			for range 2 {
				s.vol.Swap(tc.state)
				_, err := s.Render(t.Context())
				mixed, ok := errors.AsType[*MixedError](err)
				if !ok || !mixed.Temporary() || tc.want != nil && !slices.Equal(mixed.Files, tc.want) {
					t.Errorf("error %v, want %v", err, tc.want)
				}
				if got := read(t, s.out); got != "before" || !maps.Equal(s.unpacked(), before) {
					t.Errorf("output %q, rules %v", got, s.unpacked())
				}
				s.restart()
			}
			s.vol.Swap(next)
			s.expect("next", map[string]string{"a.yaml": "2"})
		})
	}
}

// After each step of a kubelet update the output is one complete version.
func TestNoStateOfASwapIsUsedHalf(t *testing.T) {
	type state struct {
		config string
		rules  map[string]string
	}
	states := []state{{"small", nil}, {"large", map[string]string{"a.yaml": "1"}}, {"larger", map[string]string{"a.yaml": "1", "b.yaml": "2"}}, {"small", nil}}
	s := newSite(t)
	s.vol.Swap(files(t, states[0].config, 1, nil, 0))
	s.render()
	for i := 1; i < len(states); i++ {
		n, m := 1+len(states[i].rules), len(states[i].rules)
		for _, step := range s.vol.Steps(files(t, states[i].config, n, states[i].rules, m)) {
			step()
			_, err := s.Render(t.Context())
			if _, mixed := errors.AsType[*MixedError](err); err != nil && !mixed {
				t.Errorf("step to %d: %v", i, err)
			}
			got := state{read(t, s.out), s.unpacked()}
			if !slices.ContainsFunc(states[i-1:i+1], func(want state) bool {
				return got.config == want.config && maps.Equal(got.rules, want.rules)
			}) {
				t.Errorf("step to %d: neither before nor after: %+v", i, got)
			}
		}
		s.expect(states[i].config, states[i].rules)
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	text := strings.Repeat("0123456789", 60_000)
	for name, tc := range map[string]struct {
		stream, want string
	}{
		"a path upwards":         {archiveOf(t, entry{name: "../a.yaml"}), "not a regular file"},
		"a path downwards":       {archiveOf(t, entry{name: "x/a.yaml"}), "not a regular file"},
		"an absolute path":       {archiveOf(t, entry{name: "/etc/a.yaml"}), "not a regular file"},
		"a hidden file":          {archiveOf(t, entry{name: "..data.yaml"}), "not a regular file"},
		"another extension":      {archiveOf(t, entry{name: "a.yml"}), "not a regular file"},
		"a symbolic link":        {archiveOf(t, entry{name: "a.yaml", kind: tar.TypeSymlink}), "not a regular file"},
		"a hard link":            {archiveOf(t, entry{name: "a.yaml", kind: tar.TypeLink}), "not a regular file"},
		"a folder":               {archiveOf(t, entry{name: "a.yaml", kind: tar.TypeDir}), "not a regular file"},
		"a file twice":           {archiveOf(t, entry{name: "a.yaml"}, entry{name: "a.yaml"}), "occurs twice"},
		"more than is allowed":   {archiveOf(t, entry{name: "a.yaml", text: text}, entry{name: "b.yaml", text: text}), "larger than 1048576 bytes"},
		"a file with a hole":     {sparse(t), "larger than 1048576 bytes"},
		"zeros without end":      {gz(t, strings.Repeat("\x00", 2<<20)), "larger than 1048576 bytes"},
		"no archive":             {gz(t, strings.Repeat("rules", 500)), "unpack rules"},
		"an archive that breaks": {archiveOf(t, entry{name: "a.yaml", text: text})[:500], "unpack rules"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			before := map[string]string{"a.yaml": "1"}
			s.vol.Swap(files(t, "before", 1, before, 1))
			s.expect("before", before)
			state := files(t, "next", 2, before, 1)
			l, err := parts.Parse([]byte(state[parts.ListName]), key)
			must(t, err)
			state["rules-12.tar.gz"], l.Rules[0].SHA256 = tc.stream, sum(tc.stream)
			list, err := l.Encode()
			must(t, err)
			state[parts.ListName] = string(list)
			s.vol.Swap(state)
			_, err = s.Render(t.Context())
			if _, mixed := errors.AsType[*MixedError](err); err == nil || mixed || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if got := read(t, s.out); got != "before" || !maps.Equal(s.unpacked(), before) || len(s.leftovers()) != 3 {
				t.Errorf("output %q, rules %v, beside it %v", got, s.unpacked(), s.leftovers())
			}
		})
	}
}

func TestAListThatIsRefusedIsNoMixedState(t *testing.T) {
	s := newSite(t)
	state := files(t, "x", 2, nil, 0)
	state[parts.ListName] = "{}"
	s.vol.Swap(state)
	if _, err := s.Render(t.Context()); err == nil || !strings.Contains(err.Error(), "must begin with") {
		t.Errorf("error %v", err)
	}
	large := strings.Repeat("x", parts.MaxFile+1)
	state = files(t, "x", 2, nil, 0)
	state["config-1.gz"] = large
	s.vol.Swap(state)
	if _, err := s.Render(t.Context()); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Errorf("error %v", err)
	}
}

func TestForeignFolderIsNotChanged(t *testing.T) {
	s := newSite(t)
	theirs := filepath.Join(filepath.Dir(s.out), RulesDir)
	must(t, os.Mkdir(theirs, 0o755))
	write(t, filepath.Join(theirs, "mine.yaml"), "mine")
	s.vol.Swap(files(t, "one", 1, nil, 0))
	s.render()
	s.vol.Swap(files(t, "two", 1, map[string]string{"a.yaml": "1"}, 1))
	if _, err := s.Render(t.Context()); err == nil || !strings.Contains(err.Error(), "not a symlink of this program") {
		t.Errorf("error %v", err)
	}
	if !maps.Equal(s.unpacked(), map[string]string{"mine.yaml": "mine"}) || read(t, s.out) != "one" {
		t.Errorf("rules %v, output %q", s.unpacked(), read(t, s.out))
	}
}

// Modified or removed rules are restored, like the output.
func TestRulesThatWereTouchedComeBack(t *testing.T) {
	s := newSite(t)
	rules := map[string]string{"a.yaml": "1"}
	s.vol.Swap(files(t, "x", 1, rules, 1))
	s.expect("x", rules)
	link := filepath.Join(filepath.Dir(s.out), RulesDir)
	target, err := os.Readlink(link)
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(filepath.Dir(link), target)))
	s.expect("x", rules)
	must(t, os.Remove(link))
	s.expect("x", rules)
}

func TestHandlesTheFilesOfTheList(t *testing.T) {
	s := newSite(t)
	for path, want := range map[string]bool{
		s.vol.Path(key): true, s.vol.Path("parts.json"): true, s.vol.Path("config-3.gz"): true, s.vol.Path("rules-3.tar.gz"): true,
		s.vol.Path("other"): false, filepath.Join(filepath.Dir(s.out), "parts.json"): false,
		filepath.Join(filepath.Dir(s.out), ".rules-0123", "a.yaml"): true, filepath.Join(filepath.Dir(s.out), "rules", "a.yaml"): false,
	} {
		if s.Handles(path) != want {
			t.Errorf("Handles(%s) = %v", path, !want)
		}
	}
}

// The file watcher may call Owns during Render, as it does if input and output share a
// folder. This test is for the race detector.
func TestOwnsWhileRendering(t *testing.T) {
	s := newSite(t)
	rules := filepath.Join(filepath.Dir(s.out), RulesDir)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				s.Owns(rules)
			}
		}
	}()
	for i := range 20 {
		var r map[string]string
		if i%2 == 0 {
			r = map[string]string{"a.yaml": fmt.Sprint(i)}
		}
		s.vol.Swap(files(t, fmt.Sprint("a: ", i), 1, r, len(r)))
		s.render()
		if s.Owns(rules) != (r != nil) {
			t.Errorf("step %d: the folder of rules is taken for %v", i, s.Owns(rules))
		}
	}
	close(stop)
	<-done
}
