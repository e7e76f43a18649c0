package commands

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// situations returns folders of manifests: those of the golden files, and collections of cases outside of the
// repository.
func situations(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	var archives []string
	for _, dir := range []string{"testdata/lint", "testdata/explain", "../../operator/diagnose/lint/testdata", "../../operator/diagnose/explain/testdata"} {
		found, err := filepath.Glob(dir + "/*.txtar")
		if err != nil || len(found) < 5 {
			t.Fatalf("%d archives in %s, %v", len(found), dir, err)
		}
		archives = append(archives, found...)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range archive.Files {
			if ext := filepath.Ext(f.Name); ext != ".yaml" && ext != ".json" {
				continue
			}
			at := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			out[path] = dir
		}
	}
	maps.Copy(out, nearMisses(t))
	cases, err := filepath.Glob("../../../shared/cases/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Log("no collection of cases beside the project")
	}
	for _, path := range cases {
		dir, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		out[dir] = dir
	}
	return out
}

// selectsEverything is a workload for situations without one.
const selectsEverything = `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: k8s, namespace: monitoring}
spec:
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: {}
  podMonitorSelector: {}
  podMonitorNamespaceSelector: {}
  probeSelector: {}
  probeNamespaceSelector: {}
  scrapeConfigSelector: {}
  scrapeConfigNamespaceSelector: {}
`

// nearMisses returns folders with one file each of the manifests with which hints are tested.
func nearMisses(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	archives, err := filepath.Glob("../../operator/diagnose/nearmiss/testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if filepath.Ext(f.Name) != ".yaml" {
				continue
			}
			dir := t.TempDir()
			text := string(f.Data)
			if !strings.Contains(text, "kind: Prometheus\n") {
				text = selectsEverything + "---\n" + text
			}
			if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out[filepath.Base(path)+" "+f.Name] = dir
		}
	}
	return out
}

// hint is a problem of a field.
type hint struct{ Code, Field, Message string }

// results is the result of a command for an object.
type results struct {
	selected, rejected map[string]bool // by workload
	hints              map[hint]bool   // hints about fields of the object, for jobs without targets
}

func noResults() results { return results{map[string]bool{}, map[string]bool{}, map[hint]bool{}} }

func (s *results) hint(all []hint) {
	for _, h := range all {
		if h.Code == "no-target" && !strings.HasPrefix(h.Field, "spec.alerting") {
			s.hints[hint{h.Code, h.Field, h.Message}] = true
		}
	}
}

// answer runs a command and decodes its JSON output. It returns false if there is no output.
func answer(t *testing.T, dir string, args []string, into any) bool {
	t.Helper()
	stdout, _, _ := runIn(t, dir, append(args, "--format=json"))
	if len(stdout) == 0 {
		return false
	}
	if err := json.Unmarshal(stdout, into); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stdout)
	}
	return true
}

// findings is the output of lint.
type findings struct {
	Findings []struct {
		Code, Kind, Namespace, Name, Field, Message string
		Workloads                                   []string
	}
}

// of returns the results for an object.
func (f findings) of(ref catalog.Ref) (out results, notSelected bool) {
	out = noResults()
	for _, one := range f.Findings {
		if one.Kind != ref.Kind || one.Namespace != ref.Namespace || one.Name != ref.Name {
			continue
		}
		switch one.Code {
		case "not-selected":
			notSelected = strings.HasPrefix(one.Message, "not selected by")
		case "rejected":
			for _, w := range one.Workloads {
				out.rejected[w] = true
			}
		}
		out.hint([]hint{{one.Code, one.Field, one.Message}})
	}
	return out, notSelected
}

func explained(t *testing.T, dir string, ref catalog.Ref) (out results, ok bool) {
	t.Helper()
	var got struct {
		Workloads []struct {
			Workload catalog.Ref
			Accepted bool
			Reason   explain.Reason
			Hints    []struct {
				hint
				Workload string
			}
		}
	}
	out = noResults()
	ok = answer(t, dir, []string{"explain", ref.Kind, ref.Namespace + "/" + ref.Name, "-f", ".", "--offline"}, &got)
	for _, w := range got.Workloads {
		out.selected[w.Workload.String()] = w.Accepted
		out.rejected[w.Workload.String()] = w.Reason == explain.Rejected
		for _, h := range w.Hints {
			if h.Workload == "" {
				out.hint([]hint{h.hint})
			}
		}
	}
	return out, ok
}

func targeted(t *testing.T, dir string, ref catalog.Ref) (out results, ok bool) {
	t.Helper()
	var got struct {
		Workloads []struct {
			catalog.Ref
			Hints []struct {
				hint
				Workload string
			}
			Objects []struct {
				State preview.ObjectState
				Jobs  []struct{ Hints []hint }
			}
		}
		NotUsed []struct {
			Workload catalog.Ref
			Reason   explain.Reason
		}
	}
	out = noResults()
	ok = answer(t, dir, []string{"targets", ref.Kind, ref.Namespace + "/" + ref.Name, "-f", ".", "--offline"}, &got)
	for _, w := range got.Workloads {
		for _, o := range w.Objects {
			out.selected[w.String()] = o.State == preview.Accepted
			for _, j := range o.Jobs {
				out.hint(j.Hints)
			}
		}
		for _, h := range w.Hints {
			if h.Workload == "" {
				out.hint([]hint{h.hint})
			}
		}
	}
	for _, n := range got.NotUsed {
		out.selected[n.Workload.String()] = false
		out.rejected[n.Workload.String()] = n.Reason == explain.Rejected
	}
	return out, ok
}

// The commands lint, explain and targets agree on the workloads that use or reject an object, and on the hints for
// jobs without targets.
func TestCommandsAgree(t *testing.T) {
	asked, hints := 0, 0
	for title, dir := range situations(t) {
		t.Run(title, func(t *testing.T) {
			var linted findings
			if !answer(t, dir, []string{"lint", "."}, &linted) {
				t.Skip("lint cannot read it")
			}
			for _, ref := range objectsOf(t, dir) {
				fromLint, notSelected := linted.of(ref)
				fromExplain, ok := explained(t, dir, ref)
				fromTargets, also := targeted(t, dir, ref)
				if !ok || !also {
					continue // the manifest cannot be parsed
				}
				asked++
				hints += len(fromLint.hints)
				if notSelected && slices.Contains(slices.Collect(maps.Values(fromExplain.selected)), true) {
					t.Errorf("%s: lint says that nothing selects it, explain %v", ref, fromExplain.selected)
				}
				for w := range fromLint.rejected {
					if !fromExplain.rejected[w] {
						t.Errorf("%s: lint says that %s rejects it, explain %v", ref, w, fromExplain.rejected)
					}
				}
				for w, is := range fromExplain.selected {
					if fromTargets.selected[w] != is {
						t.Errorf("%s: used by %s: explain says %t, targets %v", ref, w, is, fromTargets.selected)
					}
				}
				if !maps.Equal(fromLint.hints, fromExplain.hints) || !maps.Equal(fromLint.hints, fromTargets.hints) {
					t.Errorf("%s: hints of\nlint    %v\nexplain %v\ntargets %v", ref, fromLint.hints, fromExplain.hints, fromTargets.hints)
				}
			}
		})
	}
	if asked < 200 || hints < 70 {
		t.Errorf("only %d objects with %d hints were asked about", asked, hints)
	}
}

// objectsOf returns the objects of a folder that have targets.
func objectsOf(t *testing.T, dir string) (out []catalog.Ref) {
	t.Helper()
	kubernetes, err := parseKubernetes(newestKubernetes)
	if err != nil {
		t.Fatal(err)
	}
	setups, _, err := new(Options).setups(kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifests.Load([]string{dir}, explain.Kinds(setups))
	if err != nil {
		return nil
	}
	seen := map[catalog.Ref]bool{}
	for _, row := range preview.Sources {
		for _, o := range objects.All(row) {
			ref := catalog.Ref{Kind: row.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
			if !seen[ref] {
				out = append(out, ref)
			}
			seen[ref] = true
		}
	}
	return out
}
