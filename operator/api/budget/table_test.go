package budget

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Every limit is documented in the table.
func TestTableIsComplete(t *testing.T) {
	documented := map[string]bool{}
	for _, r := range table {
		name, _, _ := strings.Cut(r.name, ".") // of a [Room]
		documented[name] = true
	}
	found := map[string]bool{}
	for _, path := range []string{"budget.go", "server.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is {
				for _, name := range spec.Names {
					found[name.Name] = true
					if !documented[name.Name] {
						t.Errorf("%s is not in the table", name.Name)
					}
				}
			}
			return true
		})
	}
	for name := range documented {
		if !found[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestPageIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Insert(string(page))
	if err != nil || want != string(page) {
		t.Errorf("docs/security.md is out of date: run make generate (%v)", err)
	}
	if _, err := Insert("no marks"); err == nil {
		t.Error("a page without marks is accepted")
	}
	if text := markdown(); !strings.Contains(text, "| endpoints | 2,500 |") || !strings.Contains(text, "| 512 KiB |") || !strings.Contains(text, "| 400 bytes |") {
		t.Errorf("limits are not written for people:\n%s", text)
	}
}
