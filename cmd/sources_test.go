package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const prefix = "github.com/firekeeper-dev/firekeeper/"

// reachesCluster reports whether a file can send requests to the API server.
func (f source) reachesCluster() bool {
	for _, path := range f.imports {
		if path == prefix+"operator/kube/client" || path == prefix+"operator/api/crds/definitions" ||
			slices.ContainsFunc([]string{"kubernetes", "dynamic", "metadata", "rest"}, func(c string) bool { return within(path, []string{"k8s.io/client-go/" + c}) }) {
			return true
		}
	}
	return false
}

// writes reports whether a call changes something through a client. Typed clients take
// arguments; requests of a REST client start without.
func (f source) writes(call *ast.CallExpr) bool {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	if from, is := method.X.(*ast.Ident); is && f.imports[from.Name] != "" {
		return false // a function of a package
	}
	if of, is := method.X.(*ast.CallExpr); is {
		if resource, is := of.Fun.(*ast.SelectorExpr); is && strings.HasSuffix(resource.Sel.Name, "Reviews") {
			return false // an access review, which is not stored
		}
	}
	ofKind := []string{
		"Create", "Update", "UpdateStatus", "UpdateScale", "Patch", "Apply", "ApplyStatus", "ApplyScale", "Delete", "DeleteCollection",
		"Evict", "EvictV1", "EvictV1beta1",
	}
	if len(call.Args) > 0 {
		return slices.Contains(ofKind, method.Sel.Name) || method.Sel.Name == "Verb"
	}
	return slices.Contains([]string{"Post", "Put", "Delete"}, method.Sel.Name)
}

// source is a non-test source file.
type source struct {
	pkg     string
	imports map[string]string // path by name in the file
	syntax  *ast.File
	files   *token.FileSet
}

func (f source) at(n ast.Node) token.Position { return f.files.Position(n.Pos()) }

func sources(t *testing.T, patterns ...string) (out []source) {
	t.Helper()
	files := token.NewFileSet()
	for _, line := range list(t, append([]string{"-f", "{{.ImportPath}} {{.Dir}} {{join .GoFiles \" \"}}"}, patterns...)...) {
		words := strings.Fields(line)
		for _, name := range words[2:] {
			syntax, err := parser.ParseFile(files, filepath.Join(words[1], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			f := source{pkg: words[0], imports: map[string]string{}, syntax: syntax, files: files}
			for _, imp := range syntax.Imports {
				p, err := strconv.Unquote(imp.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				name := path.Base(p)
				if imp.Name != nil {
					name = imp.Name.Name
				}
				f.imports[name] = p
			}
			out = append(out, f)
		}
	}
	return out
}

func within(path string, modules []string) bool {
	for _, m := range modules {
		if path == m || strings.HasPrefix(path, m+"/") {
			return true
		}
	}
	return false
}

// graph maps each package of the project, and each of their dependencies, to its imports.
var graph map[string][]string

// dependencies returns packages and all of their dependencies. A pattern that ends with "/..."
// matches all packages below.
func dependencies(t *testing.T, patterns ...string) []string {
	t.Helper()
	if graph == nil {
		graph = map[string][]string{}
		for _, line := range list(t, "-deps", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}",
			prefix+"cmd/...", prefix+"operator/...", prefix+"internal/...", prefix+"reloaders/config-reloader/...", prefix+"reloaders/rules-reloader/...") {
			pkg, imports, _ := strings.Cut(line, ":")
			graph[pkg] = strings.Fields(imports)
		}
	}
	found := map[string]bool{}
	var add func(pkg string)
	add = func(pkg string) {
		if found[pkg] {
			return
		}
		found[pkg] = true
		for _, imp := range graph[pkg] {
			add(imp)
		}
	}
	for _, pattern := range patterns {
		before := len(found)
		below, all := strings.CutSuffix(pattern, "/...")
		for pkg := range graph {
			if pkg == pattern || all && within(pkg, []string{below}) {
				add(pkg)
			}
		}
		if len(found) == before && !found[pattern] {
			t.Errorf("there is no package %s", pattern)
		}
	}
	return slices.Sorted(maps.Keys(found))
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
