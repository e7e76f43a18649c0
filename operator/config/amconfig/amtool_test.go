package amconfig

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// amtool is the checker of one release of Alertmanager, except the newest one, whose loader other tests use.
type amtool struct {
	version *semver.Version
	path    string
}

// amtools returns the versions of amtool on this machine, oldest first. With FIREKEEPER_PROMTOOLS=1, the oldest
// and the newest are built if missing. With FIREKEEPER_PROMTOOLS=all, the others are too, which takes minutes.
func amtools(t *testing.T) []amtool {
	t.Helper()
	finder := programs.Default(os.Stderr)
	var all []amtool
	names := []string{"amtool-0.21", "amtool-0.24", "amtool-0.27", "amtool"}
	for i, name := range names {
		path, err := finder.One(t.Context(), name, programtest.Build(i, len(names)))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case path == "":
			t.Logf("%s is not here; FIREKEEPER_PROMTOOLS=all builds it", name)
		default:
			version, err := programs.Release(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, amtool{version, path})
		}
	}
	if len(all) == 0 {
		t.Skip("no amtool is here; FIREKEEPER_PROMTOOLS=1 builds them")
	}
	return all
}

// documents holds different configuration files for one amtool.
type documents struct {
	seen  map[[sha256.Size]byte]bool
	names []string // inputs of the document
	texts [][]byte
}

func (d *documents) add(name string, text []byte) {
	sum := sha256.Sum256(text)
	if d.seen[sum] {
		return
	}
	if d.seen == nil {
		d.seen = map[[sha256.Size]byte]bool{}
	}
	d.seen[sum] = true
	d.names, d.texts = append(d.names, name), append(d.texts, text)
}

// refused runs amtool once for all documents and returns the rejections.
func (d *documents) refused(t *testing.T, a amtool) (results []string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"check-config"}
	for i, text := range d.texts {
		file := filepath.Join(dir, fmt.Sprintf("%05d.yaml", i))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	// The output has a result for each file, so the exit code is redundant.
	out, _ := exec.CommandContext(t.Context(), a.path, args...).Output()
	checked := 0
	for part := range bytes.SplitSeq(out, []byte("Checking '")) {
		file, result, ok := strings.Cut(string(part), "'")
		var i int
		if _, err := fmt.Sscanf(filepath.Base(file), "%05d.yaml", &i); !ok || err != nil || i >= len(d.texts) {
			continue
		}
		checked++
		if !strings.HasPrefix(result, "  SUCCESS") {
			results = append(results, fmt.Sprintf("%s: %s\n%s", d.names[i], strings.TrimSpace(result), d.texts[i]))
		}
	}
	if checked != len(d.texts) {
		t.Errorf("amtool looked at %d of %d documents:\n%.2000s", checked, len(d.texts), out)
	}
	return results
}

// TestEveryReleaseReadsIt: every golden input compiled for a release is accepted by amtool of that release.
// Every version in the name of a golden file is accepted by the next newer amtool.
func TestEveryReleaseReadsIt(t *testing.T) {
	all := amtools(t)
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	docs := make([]documents, len(all))
	for _, path := range paths {
		c, err := golden.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, tool := range all {
			for _, version := range append(versionsFor(c.Wants(), all, i), tool.version.String()) {
				if text, ok := wholeDocument(t, path, c, version); ok {
					docs[i].add(path+" for "+version, text)
				}
			}
		}
	}
	for i, tool := range all {
		t.Run(tool.version.String(), func(t *testing.T) {
			if len(docs[i].texts) < len(paths)/4 {
				t.Errorf("only %d documents of %d golden files", len(docs[i].texts), len(paths))
			}
			for _, result := range docs[i].refused(t, tool) {
				t.Error(result)
			}
			t.Logf("%d documents", len(docs[i].texts))
		})
	}
}

// versionsFor returns the wanted versions for which amtool i is the oldest suitable one.
func versionsFor(wants []string, all []amtool, i int) (out []string) {
	for _, want := range wants {
		version, _ := golden.CutVersion(want)
		v, err := semver.StrictNewVersion(version)
		if err != nil || v.GreaterThan(all[i].version) || i > 0 && !v.GreaterThan(all[i-1].version) {
			continue
		}
		out = append(out, version)
	}
	return slices.Compact(out)
}

// wholeDocument compiles the input of a golden file for a version. Inputs that fail as a whole or are not
// checked result in no document.
func wholeDocument(t *testing.T, path string, c golden.Case, version string) (text []byte, ok bool) {
	t.Helper()
	w, err := readInput(c)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	w.complete()
	out, err := w.renderAll(version)
	return out.text, err == nil && out.frame.Raw == nil
}

// complete adds what a document needs in addition to the subject of a golden file: a selector, a base, and
// routes, because receivers without a route are omitted.
func (w *goldenInput) complete() {
	w.am.Spec.AlertmanagerConfigSelector = &metav1.LabelSelector{}
	base, _ := w.base()
	if by := w.am.Spec.AlertmanagerConfiguration; by != nil && base.Config == nil {
		w.configs = append(w.configs, &v1alpha1.AlertmanagerConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.am.Namespace, Name: by.Name},
			Spec:       v1alpha1.AlertmanagerConfigSpec{Receivers: []v1alpha1.Receiver{{Name: "none"}}},
		})
	}
	for _, config := range w.configs {
		if spec := &config.Spec; spec.Route == nil && len(spec.Receivers) > 0 {
			spec.Route = &v1alpha1.Route{Receiver: spec.Receivers[0].Name}
		}
	}
}

// TestEveryReleaseReadsRandom: random objects, bases and receivers compiled for a release are accepted by
// amtool of that release.
func TestEveryReleaseReadsRandom(t *testing.T) {
	const inputs, receivers = 300, 1500
	for _, tool := range amtools(t) {
		t.Run(tool.version.String(), func(t *testing.T) {
			var docs documents
			for seed := range uint64(inputs) {
				out, err := randomInput(seed).renderAll(tool.version.String())
				if err == nil {
					docs.add(fmt.Sprintf("seed %d", seed), out.text)
				}
			}
			for seed := range uint64(receivers) {
				g := newReceiverGenerator(seed, uint8(seed))
				if text, out := g.write(t, tool.version.String(), g.receiver()); text != nil {
					docs.add(fmt.Sprintf("receiver of seed %d", seed), withRoute(text, []Receiver{out}))
				}
			}
			if len(docs.texts) < inputs/4 {
				t.Errorf("only %d of %d have a document", len(docs.texts), inputs)
			}
			for _, result := range docs.refused(t, tool) {
				t.Error(result)
			}
			t.Logf("%d documents", len(docs.texts))
		})
	}
}

// TestEveryAmtoolRefuses makes sure that the checkers do not accept everything: an unknown key, a duplicate
// key, and a key of a later release are rejected, and the document next to them is not.
func TestEveryAmtoolRefuses(t *testing.T) {
	later := semver.MustParse("0.32.0") // the first release with global.mattermost_webhook_url
	for _, tool := range amtools(t) {
		t.Run(tool.version.String(), func(t *testing.T) {
			var d documents
			const good = "route: {receiver: a}\nreceivers: [{name: a}]\n"
			d.add("good", []byte(good))
			d.add("unknown", []byte(good+"firekeeper: true\n"))
			d.add("doubled", []byte(good+"receivers: [{name: a}]\n"))
			d.add("later", []byte(good+"global: {mattermost_webhook_url: http://a}\n"))
			var refused []string
			for _, result := range d.refused(t, tool) {
				name, _, _ := strings.Cut(result, ":")
				refused = append(refused, name)
			}
			want := []string{"unknown", "doubled"}
			if tool.version.LessThan(later) {
				want = append(want, "later")
			}
			if !slices.Equal(refused, want) {
				t.Errorf("refused are %q, want %q", refused, want)
			}
		})
	}
}
