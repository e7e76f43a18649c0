// Package cmd_test holds what is true of the whole project.
package cmd_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const prefix = "github.com/firekeeper-dev/firekeeper/"

// TestImportsPointOneWay holds the direction cmd → operator | reloaders → internal.
func TestImportsPointOneWay(t *testing.T) {
	allowed := map[string][]string{
		"cmd":                       {"cmd", "operator", "reloaders/config-reloader", "reloaders/rules-reloader", "internal"},
		"operator":                  {"operator", "internal"},
		"reloaders/config-reloader": {"reloaders/config-reloader", "internal"},
		"reloaders/rules-reloader":  {"reloaders/rules-reloader", "internal"},
		"internal":                  {"internal"},
	}
	for module, may := range allowed {
		for _, line := range list(t, "-test", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", prefix+module+"/...") {
			pkg, imports, _ := strings.Cut(line, ": ")
			for imp := range strings.FieldsSeq(imports) {
				path, ours := strings.CutPrefix(strings.TrimSuffix(imp, "_test"), prefix)
				if ours && !within(path, may) {
					t.Errorf("%s imports %s: %s may use %v only", pkg, imp, module, may)
				}
			}
		}
	}
}

// TestReloadersStaySmall keeps the Kubernetes libraries out of the sidecars and
// of what they are built from.
func TestReloadersStaySmall(t *testing.T) {
	for _, pkg := range list(t, "-deps", "-f", "{{.ImportPath}}",
		prefix+"reloaders/config-reloader/...", prefix+"reloaders/rules-reloader/...",
		prefix+"cmd/config-reloader", prefix+"cmd/rules-reloader", prefix+"internal/...") {
		if strings.HasPrefix(pkg, "k8s.io/") || strings.HasPrefix(pkg, "sigs.k8s.io/") {
			t.Errorf("the reloaders or internal depend on %s", pkg)
		}
	}
}

// TestOnlyApplyWrites keeps calls that change the cluster in one place.
func TestOnlyApplyWrites(t *testing.T) {
	for _, line := range list(t, "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", prefix+"operator/...") {
		pkg, imports, _ := strings.Cut(line, ": ")
		// CRDs are installed before anything runs, by a command of their own.
		if strings.HasPrefix(pkg, prefix+"operator/apply") || strings.HasPrefix(pkg, prefix+"operator/crds/install") {
			continue
		}
		if strings.Contains(" "+imports+" ", " k8s.io/client-go/util/retry ") {
			t.Errorf("%s retries conflicts: writes belong into operator/apply", pkg)
		}
	}
}

// TestDeployNamesTheVersion keeps the images of deploy/ at the version of the tree.
func TestDeployNamesTheVersion(t *testing.T) {
	version, err := os.ReadFile("../.version")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("../deploy/operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"operator", "config-reloader", "rules-reloader"} {
		if want := "firekeeper/" + name + ":v" + strings.TrimSpace(string(version)); !strings.Contains(string(manifest), want) {
			t.Errorf("deploy/operator.yaml does not name %s", want)
		}
	}
}

func within(path string, modules []string) bool {
	for _, m := range modules {
		if path == m || strings.HasPrefix(path, m+"/") {
			return true
		}
	}
	return false
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
