package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	source = "../../api/monitoring"
	stored = "../../../docs/api"
)

// The committed pages match the types.
func TestCurrent(t *testing.T) {
	pages, err := build(source)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(stored, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/api/%s is not what the types say; run `make generate`", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(stored, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, ok := pages[filepath.Base(file)]; !ok {
			t.Errorf("docs/api/%s is about nothing; remove it", filepath.Base(file))
		}
	}
}

var (
	linkTarget = regexp.MustCompile(`\]\(([a-z]*\.md)?(?:#([^)]+))?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// Every link has a target.
func TestLinks(t *testing.T) {
	pages, err := build(source)
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for name, text := range pages {
		anchors[name+"#"] = true
		for _, h := range heading.FindAllStringSubmatch(text, -1) {
			id := name + "#" + anchor(h[1])
			if anchors[id] {
				t.Errorf("%s: two headings %q", name, h[1])
			}
			anchors[id] = true
		}
	}
	followed := 0
	for name, text := range pages {
		for _, link := range linkTarget.FindAllStringSubmatch(text, -1) {
			page := link[1]
			if page == "" {
				page = name
			}
			followed++
			if !anchors[page+"#"+link[2]] {
				t.Errorf("%s: link to %s#%s leads nowhere", name, page, link[2])
			}
		}
	}
	if followed < 500 {
		t.Errorf("only %d links", followed)
	}
}

// Every type and every field of the API has a comment.
func TestDescribed(t *testing.T) {
	m, err := newModel(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.objects {
		if o.Doc == "" {
			t.Errorf("%s has no comment", o.Type)
		}
		for _, f := range o.Fields {
			if strings.TrimSpace(f.Schema.Description) == "" {
				t.Errorf("%s.%s has no comment", o.Type, f.Name)
			}
		}
	}
}
