package rules

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// shared returns the path of a shared input, or skips the test.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	if root := os.Getenv("FIREKEEPER_SHARED"); root != "" {
		return filepath.Join(append([]string{root}, elem...)...)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		found := filepath.Join(append([]string{parent, "shared"}, elem...)...)
		if _, err := os.Stat(found); err == nil {
			return found
		}
	}
	t.Skipf("%s is not here; set FIREKEEPER_SHARED", filepath.Join(elem...))
	return ""
}

// realRules returns the rule objects of kube-prometheus.
func realRules(t *testing.T) []*v1.PrometheusRule {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared(t, "real", "kube-prometheus"), "*rometheusRule.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rule objects: %v", err)
	}
	var out []*v1.PrometheusRule
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := &v1.PrometheusRule{}
		if err := yaml.UnmarshalStrict(data, r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		r.UID = "0e7a"
		out = append(out, r)
	}
	return out
}

func TestRealRulesCompile(t *testing.T) {
	rules := 0
	for _, r := range realRules(t) {
		for _, version := range []string{"2.45.0", "3.13.2"} {
			for _, label := range []string{"", "namespace"} {
				s := settings(version)
				s.EnforcedLabel = label
				f := Compile(r, s)
				if f.Err != nil || len(f.Dropped) > 0 {
					t.Errorf("%s for %s: %v, dropped %v", r.Name, version, f.Err, f.Dropped)
				}
				if errs := readByPrometheus(f.Content, s); len(errs) > 0 {
					t.Errorf("%s for %s: %v", r.Name, version, errs)
				}
				rules += f.Rules
			}
			want, err := yaml.Marshal(r.Spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := Compile(r, settings(version)).Content; got != string(want) {
				t.Errorf("%s for %s differs from the spec as YAML", r.Name, version)
			}
		}
	}
	if rules < 400 {
		t.Errorf("only %d rules compiled", rules)
	}
}

// program finds a program by environment variable, in PATH, or among those built for the
// local cluster. If there is none, it skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	env := "FIREKEEPER_" + strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(name))
	if path, err := exec.LookPath(cmp.Or(os.Getenv(env), name)); err == nil {
		return path
	}
	path, err := programs.Default(os.Stderr).Have(t.Context(), name)
	if err != nil || path == "" {
		t.Skipf("no %s; put it on PATH or set %s (%v)", name, env, err)
	}
	return path
}

// TestPromtoolAcceptsRuleFiles: promtool accepts the rule files.
func TestPromtoolAcceptsRuleFiles(t *testing.T) {
	tool := program(t, "promtool")
	objects := append(realRules(t), typical(50))
	s := settings("3.13.2")
	for _, label := range []string{"", "namespace"} {
		s.EnforcedLabel = label
		dir := t.TempDir()
		args := []string{"check", "rules", "--lint=none"}
		for _, r := range objects {
			f := Compile(r, s)
			file := filepath.Join(dir, f.FileName)
			if err := os.WriteFile(file, []byte(f.Content), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
		}
		out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		if n := bytes.Count(out, []byte("SUCCESS")); n != len(objects) {
			t.Errorf("promtool accepted %d of %d files:\n%s", n, len(objects), out)
		}
	}
}
