package budget

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every limit is documented in the table.
func TestTableIsComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "budget.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is {
			for _, name := range spec.Names {
				found[name.Name] = true
				if !slices.ContainsFunc(table, func(r row) bool { return r.name == name.Name }) {
					t.Errorf("%s is not in the table", name.Name)
				}
			}
		}
		return true
	})
	for _, r := range table {
		if !found[r.name] {
			t.Errorf("there is no %s", r.name)
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
