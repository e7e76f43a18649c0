package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// Regular expressions that are compiled at their first use are literals that compile.
func TestLazyRegexps(t *testing.T) {
	files := token.NewFileSet()
	found := 0
	for _, f := range tracked(t) {
		if !strings.HasSuffix(f.name, ".go") || strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(files, f.name, f.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || of.Sel.Name != "New" {
				return true
			}
			if pkg, ok := of.X.(*ast.Ident); !ok || pkg.Name != "lazyregexp" {
				return true
			}
			found++
			if pattern, ok := literal(call.Args[0]); !ok {
				t.Errorf("%s: the pattern is not a literal", files.Position(call.Pos()))
			} else if _, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s: %v", files.Position(call.Pos()), err)
			}
			return true
		})
	}
	if found == 0 {
		t.Error("no call of lazyregexp.New is found")
	}
}
