package promconfig

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// document contains every type that is written to a file.
type document struct {
	Head            Head                `yaml:"head"`
	ServiceMonitors []ServiceMonitorJob `yaml:"service_monitors"`
	PodMonitors     []PodMonitorJob     `yaml:"pod_monitors"`
	Relabel         Relabel             `yaml:"relabel"`
	Filter          filterStep          `yaml:"filter"`
	Port            portStep            `yaml:"port"`
	Copy            copyStep            `yaml:"copy"`
	Owner           ownerStep           `yaml:"owner"`
	Keep            keepStep            `yaml:"keep"`
	Alertmanager    Alertmanager        `yaml:"alertmanager"`
	Probes          []ProbeJob          `yaml:"probes"`
	ScrapeConfigs   []ScrapeConfigJob   `yaml:"scrape_configs"`
	JobName         jobNameStep         `yaml:"job_name"`
	Ingress         ingressStep         `yaml:"ingress"`
	Tail            Tail                `yaml:"tail"`
}

// TestTypes: tags are valid, no key is duplicate, and every field has a comment.
func TestTypes(t *testing.T) {
	structs, err := gate.Check(reflect.TypeFor[document]())
	if err != nil {
		t.Fatal(err)
	}
	comments := fieldComments(t)
	visited := 0
	for _, s := range structs {
		if s.Name() == "" || s.Name() == "document" {
			continue
		}
		visited++
		for i := range s.NumField() {
			f := s.Field(i)
			if f.IsExported() && strings.TrimSpace(comments[s.Name()+"."+f.Name]) == "" {
				t.Errorf("%s.%s has no comment", s.Name(), f.Name)
			}
		}
	}
	if visited < 79 {
		t.Errorf("only %d types were visited", visited)
	}
}

// fieldComments maps "Type.Field" to its comment in the source of this package and of the shared blocks.
func fieldComments(t *testing.T) map[string]string {
	sources, err := filepath.Glob("*.go")
	shared, sharedErr := filepath.Glob("../clientconfig/*.go")
	if err := errors.Join(err, sharedErr); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, source := range append(sources, shared...) {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, name := range fieldNames(field) {
						out[spec.Name.Name+"."+name] = field.Doc.Text()
					}
				}
			}
			return true
		})
	}
	return out
}

func fieldNames(f *ast.Field) (names []string) {
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	if len(names) == 0 { // embedded
		switch t := f.Type.(type) {
		case *ast.Ident:
			names = append(names, t.Name)
		case *ast.SelectorExpr:
			names = append(names, t.Sel.Name)
		}
	}
	return names
}
