package plainyaml

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// same fails if a document is converted to something else than by the library, which takes time on large ones.
func same(t *testing.T, document []byte) (converted bool) {
	t.Helper()
	got, ok := convert(document)
	if !ok {
		return false
	}
	want, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		t.Fatalf("%q\nis converted to\n%s\nthe library returns\n%v", document, got, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%q\nis converted to\n%s\nthe library returns\n%s", document, got, want)
	}
	return true
}

// plainDocuments are converted without the library.
var plainDocuments = []string{
	"a: b\n",
	"# c\na: b # c\n\n  # d\nb:\n  c: d\n",
	"b: 1\na: 2\nc:\nd: null\n",
	"a:\n- b\n- c: d\n  e: f\n-  g: h\n   i:\n   - j\nk: l",
	"a:\n  - - b\n    - c\n  - d\n",
	"- a\n- b: c\n",
	"a: {b: c, d: [e, f:g, 1, {}], \"h\": \"i\", j: []}\n",
	`{"a": "b\n\"\\\u003c", "c": [1, true, null, "é"], "e": {}}`,
	"{\n  \"b\": 1,\n  \"a\": [\n    {\n      \"c\": \"d\"\n    }\n  ]\n}\n",
	"a: 'it''s'\nb: ''\nc: \"\"\nd: '#'\n",
	"a: 30s\nb: 10.0.0.1\nc: 2026-11-27T00:00:00Z\nd: 1.5\ne: 0x1F\nf: 1e3\ng: 010\nh: 12345678901234567890\ni: -1\nj: .5\nk: ...\nl: 1_000\nm: +1\n",
	"a: yes\nb: No\nc: on\nd: OFF\ne: True\nf: Null\ng: y\nh: yEs\n",
	"a: |\n  b\n   c\n\n  # d\n\n\nb: |-\n  x\nc:\n- |\n  y\n",
	"a: b c  d   # e\nb: c#d\nc: http://a:80/?b=c&d=<e>\n",
	"a: (.+)/(.+)\nb: $1\nc: ^x$\nd: \\d+\ne: /metrics\n",
	"app.kubernetes.io/name: a\nb: ü – €\n",
	"a:\n  b: c\n\n\n", "---\na: b\n", "# c\n--- # d\n- a\n",
}

// otherDocuments are left to the library.
var otherDocuments = []string{
	"", "# c\n", "a", "null", "a: b\na: c\n", "a: &x b\nc: *x\n", "a: !!str 1\n", "a: >\n  b\n", "a: b\n  c\n", "\ta: b\n", "a:\tb\n", "yes: a\n", "1: a\n",
	"---\n---\na: b\n", "--- a: b\n", "...\na: b\n", "a: b\n---\nc: d\n", "a: b: c\n", "a: \"b\n  c\"\n", "a: 'b\n  c'\n", "? a\n: b\n", "<<: {a: b}\n", "a: {b: c,}\n", "a: {b}\n", "a: [b: c]\n", "a: {b: c} d\n", "{a: b}: c\n",
	"a: \"\\x41\"\n", "a: @b\n", "a: %b\n", "a: *b\n", "a:\n  b: c\n d: e\n", "- a\nb: c\n", "a: |2\n   b\n", "a: |\n\n  b\n", "a: |\n  b", "a: {b: c # d\n}\n", "a: \u2028\n", "a: \xff\n", "a: b\r\n", "a: ~\n", "a: -\n",
	"[a,\n--- b]\n", "{a: b,\nc:\n--- d}\n", "{a:\n... ,b: c}\n", "[a,\n... b]\n",
	`{"a": "\ud83d\ude00"}`, `{"a": 1} {"b": 2}`, `{"a": 1, "a": 2}`, "[" + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "]",
	"a: [" + strings.Repeat("0.5, ", maxResolved) + "0.5]",
}

// Plain documents are converted like by the library, and without it. All other documents are
// left to it.
func TestSameAsTheLibrary(t *testing.T) {
	for _, document := range plainDocuments {
		if !same(t, []byte(document)) {
			t.Errorf("%q is left to the library", document)
		}
	}
	for _, document := range otherDocuments {
		if same(t, []byte(document)) {
			t.Errorf("%q is not left to the library", document)
		}
		got, err := ToJSON([]byte(document))
		want, wantErr := yaml.YAMLToJSONStrict([]byte(document))
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: got %s and %v, want %s and %v", document, got, err, want, wantErr)
		}
	}
}

// The manifests of this project are plain, except for descriptions and rules of CRDs, which have several lines.
func TestManifests(t *testing.T) {
	names, err := filepath.Glob("../../../../deploy/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		if strings.Contains(name, "crds") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			if n++; !same(t, append(document, '\n')) {
				t.Errorf("%s has a document that is left to the library", name)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d documents", n)
	}
}

// TestAllocations: conversion allocates the output, and no values.
func TestAllocations(t *testing.T) {
	document := []byte("items:\n" + strings.Repeat("- metadata: {name: a, labels: {b: \"c\"}}\n  spec:\n    z: 1\n    a: [d, 'e', true]\n", 1000))
	n := testing.AllocsPerRun(5, func() {
		if _, ok := convert(document); !ok {
			t.Fatal("is left to the library")
		}
	})
	if n > 20 {
		t.Errorf("%v allocations for a thousand items", n)
	}
}

// FuzzSame compares the conversion of any document with that of the library.
func FuzzSame(f *testing.F) {
	for _, document := range append(plainDocuments, otherDocuments...) {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if len(document) < 1<<12 {
			same(t, document)
		}
	})
}

// A mapping may override a key that it merges, as with kubectl. What is written twice is refused, also beside a merge.
func TestMerge(t *testing.T) {
	for document, want := range map[string]string{
		"a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}\n":                          `{"a":{"b":1,"c":2},"d":{"b":3,"c":2}}`,
		"a: &a {b: 1}\nd:\n- <<: *a\n  b: 3\n- &e\n  b: 4\n- <<: [*a, *e]": `{"a":{"b":1},"d":[{"b":3},{"b":4},{"b":1}]}`,
		"a: &a {b: 1}\nd: {<<: *a, b: 3, b: 4}\n":                          "",
		"a: &a {b: 1, b: 2}\nd: {<<: *a, b: 3}\n":                          "",
		"a: &a {b: 1}\nd: {<<: *a, b: 3}\ne: 1\ne: 2\n":                    "",
		"a: <<\nb: 1\nb: 2\n":                                              "",
	} {
		got, err := ToJSON([]byte(document))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s\ngot  %s, %v\nwant %s", document, got, err, want)
		}
	}
}
