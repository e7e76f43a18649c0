package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// comments maps a type name, for example "v1.Duration", to the comment of the type.
type comments map[string]string

// readComments reads the comments of the types of all API versions below a folder.
//
// Errors: a file cannot be read or parsed.
func readComments(source string) (comments, error) {
	files, err := filepath.Glob(filepath.Join(source, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	out := comments{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				doc := g.Doc
				if s := spec.(*ast.TypeSpec); s.Doc != nil {
					doc = s.Doc
				}
				out[parsed.Name.Name+"."+spec.(*ast.TypeSpec).Name.Name] = plain(doc.Text())
			}
		}
	}
	return out, nil
}

// plain joins the lines of each paragraph and drops markers.
func plain(text string) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSpace(paragraph), "\n") {
			if !strings.HasPrefix(line, "+") {
				lines = append(lines, line)
			}
		}
		if joined := strings.TrimSpace(strings.Join(lines, " ")); joined != "" {
			paragraphs = append(paragraphs, joined)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
