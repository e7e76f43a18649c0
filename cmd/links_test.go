package cmd_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pageLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced      = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```$")
	code        = regexp.MustCompile("`[^`\n]*`")
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// All links from pages to other pages, files and headings are valid.
func TestLinks(t *testing.T) {
	pages := pages(t)
	anchors := map[string]bool{}
	for name, text := range pages {
		for _, h := range pageHeading.FindAllStringSubmatch(text, -1) {
			anchors[name+"#"+anchorOf(h[1])] = true
		}
	}
	followed := 0
	for name, text := range pages {
		for _, link := range linksOf(text) {
			followed++
			target, anchor, deep := strings.Cut(link, "#")
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(top, to)); err != nil {
				t.Errorf("%s: no file for the link %s", name, link)
			} else if deep && !anchors[to+"#"+anchor] {
				t.Errorf("%s: no heading for the link %s", name, link)
			}
		}
	}
	if followed < 100 {
		t.Errorf("only %d links", followed)
	}
}

// docs/index.md links to every page, or to the page that lists it.
func TestIndex(t *testing.T) {
	pages := pages(t)
	linked := map[string]bool{"docs/index.md": true}
	for _, index := range []string{"docs/index.md", "docs/api/README.md"} {
		for _, link := range linksOf(pages[index]) {
			target, _, _ := strings.Cut(link, "#")
			linked[path.Join(path.Dir(index), target)] = true
		}
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && !linked[name] {
			t.Errorf("docs/index.md does not link to %s", name)
		}
	}
}

// pages returns the contents of all pages by name, without code blocks.
func pages(t *testing.T) map[string]string {
	out := map[string]string{}
	for _, f := range tracked(t) {
		if path.Ext(f.name) == ".md" {
			out[f.name] = fenced.ReplaceAllString(string(f.text), "")
		}
	}
	return out
}

// linksOf returns the targets in this repository of a page's links.
func linksOf(text string) (out []string) {
	for _, m := range pageLink.FindAllStringSubmatch(code.ReplaceAllString(text, "code"), -1) {
		if !strings.Contains(m[1], "://") {
			out = append(out, m[1])
		}
	}
	return out
}

// anchorOf returns the anchor that renderers generate for a heading.
func anchorOf(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
