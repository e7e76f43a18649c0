package promconfig

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// checker is the promtool of one release of Prometheus.
type checker struct {
	version *semver.Version
	path    string
	// lacks lists the discoveries that are disabled in this build.
	lacks []string
}

// debianLacks lists the discoveries that are disabled in Debian's build.
var debianLacks = []string{
	"kubernetes_sd_configs", "consul_sd_configs", "kuma_sd_configs", "linode_sd_configs", "nomad_sd_configs",
}

// checkers returns the versions of promtool on this machine, oldest first. With
// FIREKEEPER_PROMTOOLS=1, the oldest and the newest are downloaded or built if missing.
// With FIREKEEPER_PROMTOOLS=all, the others are too, which takes minutes for each.
func checkers(t *testing.T) []checker {
	t.Helper()
	finder := programs.Default(os.Stderr)
	var out []checker
	add := func(name, path string, get bool, err error, lacks ...string) {
		switch {
		case err != nil && get:
			t.Errorf("%s: %v", name, err)
		case err != nil || path == "":
			t.Logf("%s is not here; FIREKEEPER_PROMTOOLS=all gets it", name)
		default:
			version, err := programs.Release(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, checker{version, path, lacks})
		}
	}
	names := []string{"promtool of Debian", "promtool-2.47", "promtool-2.53", "promtool-2.55", "promtool-3.5", promtool}
	get := programtest.Build(0, len(names))
	path, err := finder.Debian(t.Context(), "prometheus", "usr/bin/promtool", get)
	add(names[0], path, get, err, debianLacks...)
	for i, name := range names[1:] {
		get := programtest.Build(i+1, len(names))
		path, err := finder.One(t.Context(), name, get)
		add(name, path, get, err)
	}
	return out
}

// TestEveryVersionReadsIt: every golden input compiled for a release of Prometheus is
// accepted by promtool of that release. Every version in the name of a golden file is
// accepted by the next newer promtool of its major version.
func TestEveryVersionReadsIt(t *testing.T) {
	all := checkers(t)
	if len(all) == 0 {
		t.Skip("no promtool is here; FIREKEEPER_PROMTOOLS=1 gets them")
	}
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	batches := make([]batch, len(all))
	for _, path := range paths {
		input, err := golden.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		for i, c := range all {
			for _, v := range append(versionsFor(input.Wants(), all, i), c.version.String()) {
				batches[i].add(t, c, name, input, v)
			}
		}
	}
	for i, c := range all {
		t.Run(c.version.String(), func(t *testing.T) {
			for _, refusal := range batches[i].check(t, c) {
				t.Error(refusal)
			}
			t.Logf("%d documents", len(batches[i].texts))
		})
	}
}

// TestEveryPromtoolRefuses makes sure that the checkers do not accept everything: an
// unknown or duplicate key is rejected, and the document next to it is not.
func TestEveryPromtoolRefuses(t *testing.T) {
	all := checkers(t)
	if len(all) == 0 {
		t.Skip("no promtool is here; FIREKEEPER_PROMTOOLS=1 gets them")
	}
	for _, c := range all {
		t.Run(c.version.String(), func(t *testing.T) {
			b := batch{names: []string{"good", "broken", "doubled"}, texts: [][]byte{
				[]byte("global: {scrape_interval: 30s}\nscrape_configs: []\n"),
				[]byte("global: {scrape_interval: 30s, firekeeper: true}\n"),
				[]byte("global: {scrape_interval: 30s}\nglobal: {}\n"),
			}}
			refusals := b.check(t, c)
			if len(refusals) != 2 || !strings.HasPrefix(refusals[0], "broken: ") || !strings.HasPrefix(refusals[1], "doubled: ") {
				t.Errorf("got %q", refusals)
			}
		})
	}
}

// versionsFor returns the wanted versions for which checker i is the closest.
func versionsFor(wants []string, all []checker, i int) (out []string) {
	for _, want := range wants {
		version, _ := golden.CutVersion(want)
		v, err := ParseVersion(version)
		if err != nil || v.Major() != all[i].version.Major() || v.GreaterThan(all[i].version) {
			continue
		}
		if i == 0 || v.GreaterThan(all[i-1].version) {
			out = append(out, version)
		}
	}
	return out
}

// batch holds different documents for one checker.
type batch struct {
	seen  map[[32]byte]bool
	names []string // inputs of the document
	texts [][]byte
}

// add compiles the input of a golden file for a version. Inputs that fail as a whole are skipped.
func (b *batch) add(t *testing.T, c checker, name string, input golden.Case, version string) {
	t.Helper()
	text, ok := textFor(t, name, input, version)
	if !ok || b.seen[sha256.Sum256(text)] {
		return
	}
	if b.seen == nil {
		b.seen = map[[32]byte]bool{}
	}
	b.seen[sha256.Sum256(text)] = true
	if version != c.version.String() && usesWhatIsGone(t, name, input, c) {
		return
	}
	b.names = append(b.names, name+" for "+version)
	b.texts = append(b.texts, without(t, text, c.lacks))
}

func textFor(t *testing.T, name string, input golden.Case, version string) (text []byte, ok bool) {
	t.Helper()
	w, err := readInput(input)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	w.setVersion(version)
	out, err := w.render()
	return out.text, err == nil
}

// usesWhatIsGone reports whether the input has a key that the checker's version no longer supports.
func usesWhatIsGone(t *testing.T, name string, input golden.Case, c checker) bool {
	t.Helper()
	w, err := readInput(input)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	w.setVersion(c.version.String())
	out, err := w.render()
	return err == nil && slices.ContainsFunc(out.dropped, func(d string) bool { return strings.Contains(d, " needs < ") })
}

// without removes the keys from all jobs and Alertmanagers.
func without(t *testing.T, text []byte, keys []string) []byte {
	t.Helper()
	if len(keys) == 0 {
		return text
	}
	var doc yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &doc); err != nil {
		t.Fatal(err)
	}
	alerting, _ := golden.Child(doc, "alerting").(yaml.MapSlice)
	for _, list := range []any{golden.Child(doc, "scrape_configs"), golden.Child(alerting, "alertmanagers")} {
		entries, _ := list.([]any)
		for i, entry := range entries {
			entries[i] = slices.DeleteFunc(entry.(yaml.MapSlice), func(item yaml.MapItem) bool {
				key, _ := item.Key.(string)
				return slices.Contains(keys, key)
			})
		}
	}
	out, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check runs promtool once for all documents and returns the rejections.
func (b *batch) check(t *testing.T, c checker) (refusals []string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"check", "config", "--syntax-only"}
	for i, text := range b.texts {
		file := filepath.Join(dir, fmt.Sprintf("%05d.yaml", i))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	// The output has a line for each file, so the exit code is redundant.
	out, _ := exec.CommandContext(t.Context(), c.path, args...).CombinedOutput()
	checked := 0
	for part := range bytes.SplitSeq(out, []byte("Checking ")) {
		file, result, ok := bytes.Cut(part, []byte("\n"))
		var i int
		if _, err := fmt.Sscanf(filepath.Base(string(file)), "%05d.yaml", &i); !ok || err != nil || i >= len(b.texts) {
			continue
		}
		checked++
		if !bytes.Contains(result, []byte("SUCCESS")) {
			refusals = append(refusals, fmt.Sprintf("%s: %s\n%s", b.names[i], bytes.TrimSpace(result), b.texts[i]))
		}
	}
	if checked != len(b.texts) {
		t.Errorf("promtool looked at %d of %d documents:\n%.2000s", checked, len(b.texts), out)
	}
	return refusals
}
