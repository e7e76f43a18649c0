package promconfig

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// Every relabel step of every job in the golden files has an origin, and recording
// origins does not change anything else.
func TestEveryStepHasAnOrigin(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	jobs := 0
	for _, path := range paths {
		c, err := golden.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, name := range c.Wants() {
			version, _ := golden.CutVersion(name)
			if !seen[version] {
				seen[version] = true
				jobs += checkOrigins(t, path, version, c)
			}
		}
	}
	if jobs < 500 {
		t.Errorf("only %d jobs were looked at", jobs)
	}
}

// checkOrigins checks one version of a golden file and returns the number of jobs.
func checkOrigins(t *testing.T, path, version string, c golden.Case) (jobs int) {
	t.Helper()
	w, err := readInput(c)
	if err != nil {
		t.Fatal(err)
	}
	w.setVersion(version)
	w.cluster.CentralDiscovery = false // is never evaluated, see TestEvaluationHasOwnDiscovery
	plain, err := w.render()
	if err != nil {
		return 0 // a golden file with an error
	}
	w.origins = true
	traced, err := w.render()
	if err != nil {
		t.Fatalf("%s: %s: with origins: %v", path, version, err)
	}
	if string(plain.text) != string(traced.text) {
		t.Errorf("%s: %s: another document with origins", path, version)
	}
	if plain.traced != nil {
		t.Errorf("%s: %s: origins that nobody asked for", path, version)
	}
	for _, f := range traced.traced {
		jobs += f.check(t, path+": "+version)
	}
	return jobs
}

// traced is the text of jobs and the origins of their steps.
type traced struct {
	text    []byte
	origins [][]Origin
}

func (f traced) check(t *testing.T, where string) int {
	t.Helper()
	var items []struct {
		Name    string          `yaml:"job_name"`
		Relabel []yaml.MapSlice `yaml:"relabel_configs"`
	}
	if err := yaml.Unmarshal(f.text, &items); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if len(items) != len(f.origins) {
		t.Fatalf("%s: %d jobs and the origins of %d", where, len(items), len(f.origins))
	}
	for i, job := range items {
		if len(job.Relabel) != len(f.origins[i]) {
			t.Errorf("%s: %s: %d steps and %d origins", where, job.Name, len(job.Relabel), len(f.origins[i]))
		}
		for j, o := range f.origins[i] {
			if o.Path == "" {
				t.Errorf("%s: %s: step %d has no origin", where, job.Name, j)
			}
		}
	}
	return len(items)
}

// origins returns the steps of all jobs with their origins, starting with additional jobs.
func (r rendered) origins() ([]byte, error) {
	var out bytes.Buffer
	for _, f := range r.traced {
		var items []struct {
			Name    string           `yaml:"job_name"`
			Relabel []relabel.Config `yaml:"relabel_configs"`
		}
		if err := yaml.Unmarshal(f.text, &items); err != nil {
			return nil, err
		}
		for i, job := range items {
			fmt.Fprintln(&out, job.Name)
			for j, o := range f.origins[i] {
				step := &job.Relabel[j]
				fmt.Fprintf(&out, "  %s: %s %v %s\n", o.Path, step.Action, step.SourceLabels, step.TargetLabel)
			}
		}
	}
	return out.Bytes(), nil
}
