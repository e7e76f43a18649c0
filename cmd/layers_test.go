// Package cmd_test checks properties of the whole project.
package cmd_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Imports between modules point in one direction: cmd → operator | reloaders → internal.
func TestImportsPointOneWay(t *testing.T) {
	allowed := map[string][]string{
		"cmd":                       {"cmd", "operator", "reloaders/config-reloader", "reloaders/rules-reloader", "internal"},
		"operator":                  {"operator", "internal"},
		"reloaders/config-reloader": {"reloaders/config-reloader", "internal"},
		"reloaders/rules-reloader":  {"reloaders/rules-reloader", "internal"},
		"internal":                  {"internal"},
	}
	var modules []string
	for module := range allowed {
		modules = append(modules, prefix+module+"/...")
	}
	for _, line := range list(t, append([]string{"-test", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}"}, modules...)...) {
		pkg, imports, _ := strings.Cut(line, ": ")
		for module, may := range allowed {
			first, _, _ := strings.Cut(strings.TrimPrefix(pkg, prefix), " ") // "cmd_test [cmd.test]"
			if !within(strings.TrimSuffix(strings.TrimSuffix(first, "_test"), ".test"), []string{module}) {
				continue
			}
			for imp := range strings.FieldsSeq(imports) {
				path, ours := strings.CutPrefix(strings.TrimSuffix(imp, "_test"), prefix)
				if ours && !within(path, may) {
					t.Errorf("%s imports %s: %s may use %v only", pkg, imp, module, may)
				}
			}
		}
	}
}

// rooms are the top folders of operator, from the user interfaces down to the API types. A
// package imports only packages of the same room and of rooms further down this list. Tests
// may import everything.
var rooms = []string{
	// User interfaces and diagnosis.
	"dev", "web", "webhook", "diagnose", "targets", "readers",
	// The operator itself.
	"controllers", "engine", "config", "kube", "workload", "api",
}

// room returns the room of a package of operator: "config" for "config/promconfig".
func room(pkg string) string {
	name, _, _ := strings.Cut(pkg, "/")
	return name
}

// Imports between the rooms of operator point down.
func TestRoomsPointDown(t *testing.T) {
	const operator = prefix + "operator/"
	found := map[string]bool{}
	for _, line := range list(t, "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", operator+"...") {
		path, imports, _ := strings.Cut(line, ": ")
		pkg := strings.TrimPrefix(strings.TrimSuffix(path, ":"), operator)
		at := slices.Index(rooms, room(pkg))
		if at < 0 {
			t.Errorf("operator/%s is in none of the rooms %v", pkg, rooms)
			continue
		}
		found[room(pkg)] = true
		for imp := range strings.FieldsSeq(imports) {
			below, ours := strings.CutPrefix(imp, operator)
			if ours && slices.Index(rooms, room(below)) < at {
				t.Errorf("operator/%s imports operator/%s, whose room is above its own", pkg, below)
			}
		}
	}
	for _, name := range rooms {
		if !found[name] {
			t.Errorf("operator/%s has no package", name)
		}
	}
}

// Placement and handoff are below what serves lists, and decide without it, the clock and the cluster: of the
// project they import only each other and the evaluation of targets.
func TestDecisionsOfShardsArePure(t *testing.T) {
	const room = prefix + "operator/targets"
	for pkg, may := range map[string][]string{
		"/allocation": {""},
		"/handoff":    {"/allocation"},
	} {
		for _, file := range sources(t, room+pkg) {
			for _, imp := range file.imports {
				below, ours := strings.CutPrefix(imp, room)
				if ours && !slices.Contains(may, below) || !ours && strings.HasPrefix(imp, prefix) {
					t.Errorf("operator/targets%s imports %s", pkg, imp)
				}
				if within(imp, []string{"context", "net", "os", "sync", "io", "log", "math/rand", "k8s.io/client-go"}) {
					t.Errorf("operator/targets%s imports %s, and is pure", pkg, imp)
				}
			}
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				call, is := n.(*ast.SelectorExpr)
				if !is {
					return true
				}
				if from, is := call.X.(*ast.Ident); is && file.imports[from.Name] == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker", "Tick", "AfterFunc"}, call.Sel.Name) {
					t.Errorf("%s: reads the clock", file.at(n))
				}
				return true
			})
		}
	}
}

// The README of each room lists all of its packages.
func TestRoomsHavePages(t *testing.T) {
	for _, pkg := range list(t, "-f", "{{.ImportPath}}", prefix+"operator/...") {
		name := strings.TrimPrefix(pkg, prefix+"operator/")
		page, err := os.ReadFile(filepath.Join("..", "operator", room(name), "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		if last := path.Base(name); strings.Contains(name, "/") && !strings.Contains(string(page), "/"+last+")") && !strings.Contains(string(page), "("+last+")") && !strings.Contains(string(page), "`"+last+"`") {
			t.Errorf("operator/%s/README.md does not list %s", room(name), name)
		}
	}
}

// The engine is independent of the kinds of workloads.
func TestEngineKnowsNoKind(t *testing.T) {
	const engine = prefix + "operator/engine"
	kinds := []string{"Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"}
	above := rooms[:slices.Index(rooms, "engine")]
	for _, pkg := range dependencies(t, engine) {
		if name, ours := strings.CutPrefix(pkg, prefix+"operator/"); ours && slices.Contains(above, room(name)) {
			t.Errorf("the engine depends on %s", pkg)
		}
	}
	for _, file := range sources(t, engine) {
		ours := map[string]bool{} // packages whose identifiers name kinds
		for name, path := range file.imports {
			ours[name] = strings.HasPrefix(path, prefix+"operator/api/")
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			sel, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			from, is := sel.X.(*ast.Ident)
			if is && ours[from.Name] && slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(sel.Sel.Name, kind) }) {
				t.Errorf("%s: names %s.%s", file.at(n), from.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

// Packages that handle all kinds of workloads do not depend on any of them, and kinds do not
// depend on each other, so that a new kind changes only its own packages.
func TestKindsAreApart(t *testing.T) {
	const operator = prefix + "operator/"
	const controllers, config = "controllers/", "config/"
	server, ruler := []string{controllers + "prometheus", controllers + "promworkload"}, []string{controllers + "thanosruler"}
	am, files, rules := []string{controllers + "alertmanager", config + "amconfig"}, []string{config + "promconfig"}, []string{config + "rules"}
	all := slices.Concat(server, ruler, am, files)
	for pkg, not := range map[string][]string{
		"engine": all, "readers/manifests": all, "diagnose/render": all, "diagnose/lint": all, "diagnose/explain": all, "diagnose/status": all,
		"controllers/prometheus": slices.Concat(ruler, am), "controllers/thanosruler": slices.Concat(server, am),
		"controllers/alertmanager": slices.Concat(server, ruler, files, rules), "engine/configsecret": slices.Concat(all, rules),
	} {
		for _, dep := range dependencies(t, operator+pkg) {
			if name, ours := strings.CutPrefix(dep, operator); ours && slices.Contains(not, name) {
				t.Errorf("%s depends on %s", pkg, name)
			}
		}
	}
}

// cmd contains only the programs, the commands that two of them share, and these tests.
func TestCmdHoldsPrograms(t *testing.T) {
	want := []string{
		prefix + "cmd", prefix + "cmd/commands", prefix + "cmd/config-reloader", prefix + "cmd/kubectl-firekeeper", prefix + "cmd/operator", prefix + "cmd/rules-reloader",
	}
	if got := list(t, "-f", "{{.ImportPath}}", prefix+"cmd/..."); !slices.Equal(got, want) {
		t.Errorf("cmd holds %v, want %v", got, want)
	}
}

// The reloaders and their dependencies do not include the Kubernetes libraries.
func TestReloadersStaySmall(t *testing.T) {
	for _, pkg := range dependencies(t,
		prefix+"reloaders/config-reloader/...", prefix+"reloaders/rules-reloader/...",
		prefix+"cmd/config-reloader", prefix+"cmd/rules-reloader", prefix+"internal/...") {
		if strings.HasPrefix(pkg, "k8s.io/") || strings.HasPrefix(pkg, "sigs.k8s.io/") {
			t.Errorf("the reloaders or internal depend on %s", pkg)
		}
	}
}

// The operator includes no service discovery of Prometheus except Kubernetes. All of them,
// with their clients, would increase the size of the program by half.
func TestOneDiscovery(t *testing.T) {
	const discoveries = "github.com/prometheus/prometheus/discovery/"
	found := map[string]bool{}
	for _, pkg := range dependencies(t, prefix+"cmd/operator", prefix+"cmd/kubectl-firekeeper", prefix+"operator/targets/discovery/lister", prefix+"operator/targets") {
		if name, ok := strings.CutPrefix(pkg, discoveries); ok {
			found[name] = true
		}
	}
	for name := range found {
		if name != "kubernetes" && name != "targetgroup" {
			t.Errorf("the operator links the discovery %s", name)
		}
	}
	if !found["kubernetes"] {
		t.Error("the operator does not discover in Kubernetes any more: this test looks for the wrong packages")
	}
}

// Only one package makes calls that change the cluster.
func TestOnlyApplyWrites(t *testing.T) {
	exempt := []string{
		"operator/kube/apply",
		"operator/api/crds/definitions", // a client
		"operator/api/crds/install",     // a separate command installs CRDs before anything runs
		"operator/dev",                  // simulates users
	}
	for _, file := range sources(t, prefix+"operator/...", prefix+"cmd/operator", prefix+"cmd/commands", prefix+"cmd/kubectl-firekeeper") {
		if within(strings.TrimPrefix(file.pkg, prefix), exempt) || !file.reachesCluster() {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && file.writes(call) {
				t.Errorf("%s: %s writes to the API server, which only operator/kube/apply may", file.at(n), call.Fun.(*ast.SelectorExpr).Sel.Name)
			}
			return true
		})
	}
}

// The images in deploy/ have the version of the repository.
func TestDeployNamesTheVersion(t *testing.T) {
	version, err := os.ReadFile("../.version")
	if err != nil {
		t.Fatal(err)
	}
	for file, images := range map[string][]string{
		"operator.yaml":                                {"operator", "config-reloader", "rules-reloader"},
		"components/webhook/deployment.yaml":           {"operator"},
		"components/central-discovery/deployment.yaml": {"operator"},
	} {
		manifest, err := os.ReadFile("../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range images {
			if want := "firekeeper/" + name + ":v" + strings.TrimSpace(string(version)); !strings.Contains(string(manifest), want) {
				t.Errorf("deploy/%s does not name %s", file, want)
			}
		}
	}
}
