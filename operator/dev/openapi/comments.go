package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
)

// comments holds the comments of types and fields, read from the sources on first use.
type comments struct {
	root     string                       // directory of the module
	packages map[string]map[string]string // path → "Type" or "Type.Field" → comment
}

// module is the module whose sources are read.
const module = "github.com/firekeeper-dev/firekeeper/operator"

// newComments locates the sources.
//
// Errors: `go list` fails.
func newComments() (*comments, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, fmt.Errorf("find the sources of %s: %w", module, err)
	}
	return &comments{strings.TrimSpace(string(dir)), map[string]map[string]string{}}, nil
}

// of returns the comment of a field, or of the type itself if field is empty. Types of other modules have no comments.
func (c *comments) of(t reflect.Type, field string) string {
	folder, ours := strings.CutPrefix(t.PkgPath(), module+"/")
	if !ours {
		return ""
	}
	of, known := c.packages[t.PkgPath()]
	if !known {
		of = readComments(filepath.Join(c.root, filepath.FromSlash(folder)))
		c.packages[t.PkgPath()] = of
	}
	if field != "" {
		return of[t.Name()+"."+field]
	}
	return of[t.Name()]
}

// readComments reads the files of a package. It panics if one cannot be read.
func readComments(folder string) map[string]string {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		panic(err)
	}
	out := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return false
			case *ast.GenDecl:
				readTypes(out, n)
			}
			return true
		})
	}
	return out
}

// readTypes adds the comments of the types of a declaration.
func readTypes(into map[string]string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		if t, ok := spec.(*ast.TypeSpec); ok {
			doc := t.Doc
			if doc == nil {
				doc = d.Doc
			}
			readType(into, t, doc)
		}
	}
}

// readType adds the comments of a type and of its fields.
func readType(into map[string]string, t *ast.TypeSpec, doc *ast.CommentGroup) {
	into[t.Name.Name] = sentence(doc)
	of, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range of.Fields.List {
		text := sentence(f.Doc)
		if text == "" {
			text = sentence(f.Comment)
		}
		for _, name := range f.Names {
			into[t.Name.Name+"."+name.Name] = text
		}
	}
}

// sentence returns a comment as a single line.
func sentence(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
