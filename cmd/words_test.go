package cmd_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// words are phrases that are not terms of the field, with their replacements. A space in
// a phrase matches any white space, so that it is found across lines.
var words = []struct{ phrase, instead string }{
	{`definitions?`, "CRD, CustomResourceDefinition"},
	{`rights|(a|any|no|the|its|another|missing|which) right`, "permission, RBAC"},
	{`pass(es)? over|(a|an|each|every|one|no|the|this|last|first|next|further|failed) pass|(status|these|the|all) passes`, "reconcile, reconciliation"},
	{`(a|an|one|each|every|first|second|next|further|new|another|last) looks?`, "reconcile, reconciliation; check"},
	{`look(s|ed|ing)? after`, "manage"},
	{`anew|(makes?|made|making|created?|written|worked on) again`, "recreate; reread; rewrite; again"},
	{`owners?`, "Prometheus, or workload; object where any kind is meant"},
	{`(is|are|be|was|not|being) part of (it|them|this|that|the only|an?|none|nothing|no|\d+)`, "selected, accepted"},
	{`(has|have|had) (a|no) use for`, "selects, does not select"},
	{`what is against`, "the first reason why not"},
	{`without effect|(idle|taken) flags?`, "has no effect, ignored"},
	{`(a|any|no|whose) text|texts`, "string"},
	{`whole numbers?`, "integer"},
	{`claims?`, "volume claim, PVC"},
	{`st(ands?|ood|anding) in`, "is used instead, replaces"},
	{`that (is|are|was|were) (not )?there|(is|are) there (now|already)`, "existing, exists"},
	{`(is|are|was|were|be|being) (not )?(said|told)|says so`, "logs, reports; name who does it"},
	{`(can|cannot|may) be asked`, "can be queried, can be reached"},
	{`nothing is done`, "skipping"},
	{`a part is (not )?started`, "controller started, controller not started"},
	{`versions? (\S+ )?(do|does) not know`, "does not support"},
	{`remarks? about`, "warning"},
	{`takes? (this|the) warning away`, "silences this warning"},
	{`(is|are) wrong (itself|themselves)`, "is invalid"},
	{`judge[sd]?|judging|verdicts?`, "check, result"},
	{`mend(s|ed|ing)?`, "fix"},
	{`but for (the|what|those|its|status)`, "except for"},
	{`for ever`, "forever"},
	{`behind your back`, "silently"},
	{`slip of the finger`, "typo"},
}

// commentWords are phrases that comments do not have: plain words instead of terms of the field, and verbs of speech
// and knowledge with things as their subject.
var commentWords = []struct{ phrase, instead string }{
	{`whoever|whomever`, "caller, client, user"},
	{`nobody|somebody|everybody`, "no caller, no client; name who does it"},
	{`anew`, "again; reread, recreate"},
	{`(is|are|was|were|be|been) told|tells? of|told of`, "notified, reported, logged"},
	{`(is|are|was|were) known of`, "state of"},
	{`what there is`, "existing"},
	{`in the place of`, "instead of"},
	{`(goes|go|going|went) on (with|as|until|when|where)`, "continues"},
	{`for ever`, "forever"},
	{`thereof|therein|whereof`, "of it, in it, of which"},
}

// fine matches uses in which such a word is correct, and code on a page.
var fine = regexp.MustCompile("(?i)\\bowner[ -]references?\\b|\\b(persistent[ -]?)?volume[ -]claims?\\b|`[^`\n]*`")

// The listed phrases do not occur in texts for users: pages, help, logs, errors,
// conditions, Events and metric help.
func TestWords(t *testing.T) {
	table := wordPatterns(words)
	for _, p := range passages(t) {
		for _, fault := range p.faults(table) {
			t.Error(fault)
		}
	}
}

// Comments of the sources do not have the phrases of commentWords.
func TestCommentWords(t *testing.T) {
	table := wordPatterns(commentWords)
	for _, f := range tracked(t) {
		if path.Ext(f.name) != ".go" || strings.HasPrefix(f.name, "operator/api/monitoring/") { // published in docs/api
			continue
		}
		for _, p := range comments(t, f.name, f.text) {
			for _, fault := range p.faults(table) {
				t.Error(fault)
			}
		}
	}
}

// A phrase is found across lines and in concatenated literals.
func TestWordsAreFound(t *testing.T) {
	source := "package p\n\n// an owner\nvar _ = errors.New(\"no \" +\n\t\"right for an owner reference\" + \" of a\\n definition\")\n"
	var found []string
	for _, p := range append(literals(t, "a.go", []byte(source)), passage{"a.md", 1, "It is made\nagain for a volume claim of `owner`."}) {
		found = append(found, p.faults(wordPatterns(words))...)
	}
	want := []string{
		`a.go:4: write "CRD, CustomResourceDefinition", not "definition"`,
		`a.go:4: write "permission, RBAC", not "no right"`,
		`a.md:1: write "recreate; reread; rewrite; again", not "made again"`,
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %q", found)
	}
}

type wordPattern struct {
	*regexp.Regexp
	instead string
}

func wordPatterns(table []struct{ phrase, instead string }) (out []wordPattern) {
	for _, w := range table {
		phrase := strings.ReplaceAll(w.phrase, " ", `\s+`)
		out = append(out, wordPattern{regexp.MustCompile(`(?i)\b(?:` + phrase + `)\b`), w.instead})
	}
	return out
}

// passage is a text for users.
type passage struct {
	file string
	line int // first line of the text
	text string
}

// faults returns each occurrence of a phrase with its location.
func (p passage) faults(table []wordPattern) (out []string) {
	// Letters are replaced, so that line numbers stay correct.
	text := fine.ReplaceAllStringFunc(p.text, func(s string) string { return strings.Repeat("_", len(s)) })
	for _, w := range table {
		for _, at := range w.FindAllStringIndex(text, -1) {
			line := p.line + strings.Count(text[:at[0]], "\n")
			word := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			out = append(out, fmt.Sprintf("%s:%d: write %q, not %q", p.file, line, w.instead, word))
		}
	}
	return out
}

// passages returns the pages and the literals of the sources. docs/reference has the help
// of all flags and metrics, and docs/api has the comments of the API, which are also the
// descriptions in the CRDs.
func passages(t *testing.T) (out []passage) {
	for _, f := range tracked(t) {
		switch {
		case path.Ext(f.name) == ".md":
			out = append(out, passage{f.name, 1, string(f.text)})
		case path.Ext(f.name) == ".go" && !strings.HasSuffix(f.name, "_test.go"):
			out = append(out, literals(t, f.name, f.text)...)
		}
	}
	return out
}

// comments returns the comments of a source file.
func comments(t *testing.T, name string, source []byte) (out []passage) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil // testdata
	}
	for _, group := range file.Comments {
		out = append(out, passage{name, files.Position(group.Pos()).Line, group.Text()})
	}
	return out
}

// literals returns the strings in a source file that have several words. Names of
// columns, keys and codes have only one.
func literals(t *testing.T, name string, source []byte) (out []passage) {
	if !bytes.HasPrefix(source, []byte("package ")) && !bytes.Contains(source, []byte("\npackage ")) {
		return nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case ast.Expr:
			if text, ok := literal(n); ok {
				if strings.Contains(text, " ") {
					out = append(out, passage{name, files.Position(n.Pos()).Line, strings.ReplaceAll(text, "\n", " ")})
				}
				return false
			}
		}
		return true
	})
	return out
}

// literal returns the value of a string literal or of a concatenation of literals.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, also := literal(e.Y)
		return left + right, e.Op == token.ADD && ok && also
	}
	return "", false
}

// Every log message that a page quotes is written by a program.
func TestQuotedMessages(t *testing.T) {
	written := map[string]bool{}
	for _, f := range tracked(t) {
		if path.Ext(f.name) == ".go" && !strings.HasSuffix(f.name, "_test.go") {
			for _, m := range regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`).FindAll(f.text, -1) {
				written[strings.Trim(string(m), `"`)] = true
			}
		}
	}
	quoted := regexp.MustCompile(`msg=("[^"]*"|\w+)`)
	for _, f := range tracked(t) {
		if path.Ext(f.name) != ".md" {
			continue
		}
		for _, m := range quoted.FindAllSubmatch(f.text, -1) {
			if message := strings.Trim(string(m[1]), `"`); !written[message] {
				t.Errorf("%s: no program logs %q", f.name, message)
			}
		}
	}
}
