package insight

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
)

// Long sections are omitted, and so are sections beyond the limit of a response.
func TestShownIsBounded(t *testing.T) {
	c, d := New(Parts{Memory: inflight.New(64 << 20)}), &draft{mask: &masker{}}
	var some []numberedSection
	for i, bytes := range append([]int{maxSection + 1}, slices.Repeat([]int{maxSection - 1000}, maxShown/maxSection+2)...) {
		some = append(some, numberedSection{i, draftSection{name: "scrape_configs", text: strings.Repeat("# comment\n", bytes/10+1)}.sized()})
	}
	got, err := c.show(t.Context(), d, some, nil)
	if err != nil || len(got) != len(some) {
		t.Fatalf("%d sections, %v", len(got), err)
	}
	for i, s := range got {
		want := "# comment"
		switch {
		case i == 0:
			want = "# not shown here: it has 512 KiB; operator render shows it"
		case i > maxShown/maxSection:
			want = "# not shown: the sections before it are long"
		}
		if !strings.HasPrefix(s.Text, want) {
			t.Errorf("section %d is %.100q, want %q", i, s.Text, want)
		}
	}
}

// Sections are found independently of the chunks in which a file is written.
func TestSectionsOfAFile(t *testing.T) {
	parts := []string{
		"# Code generated.\nglobal:\n  scrape_interval: 30s\n", "rule_files: []\n", "scrape_configs:\n",
		"- job_name: serviceMonitor/a/b/0\n  x: '" + strings.Repeat("y", 3*lineBytes) + "'\n", "- job_name: \"quoted\"\n  - job_name: inner\n\n", "- no_name: 1\n",
		"storage:\n  tsdb: {}\n- odd\n", "last: 1",
	}
	names := []string{"global", "rule_files", "", "scrape_configs/serviceMonitor/a/b/0", "scrape_configs/quoted", "scrape_configs", "storage", "last"}
	text, owner := strings.Join(parts, ""), catalog.Ref{Kind: "ServiceMonitor", Namespace: "a", Name: "b"}
	for _, step := range []int{1, 7, len(text)} {
		d := &draft{}
		if err := d.cut(func(w io.Writer) error {
			for part := range slices.Chunk([]byte(text), step) {
				if _, err := w.Write(part); err != nil {
					return err
				}
			}
			return nil
		}, map[string]catalog.Ref{"serviceMonitor/a/b/0": owner}); err != nil {
			t.Fatal(err)
		}
		var wanted []*draftSection
		for i := range d.sections {
			wanted = append(wanted, &d.sections[len(d.sections)-1-i])
		}
		if err := d.load(wanted); err != nil {
			t.Fatal(err)
		}
		at := 0
		for i, want := range parts {
			if names[i] == "" {
				continue
			}
			if i == 0 {
				// The part before the first key has no name.
				if s := d.sections[0]; s.name != "" || s.text != "# Code generated.\n" {
					t.Errorf("in steps of %d: the head is %q %q", step, s.name, s.text)
				}
				at, want = 1, strings.TrimPrefix(want, "# Code generated.\n")
			}
			if s := d.sections[at]; s.name != names[i] || s.text != want || (s.object == owner) != (i == 3) {
				t.Errorf("in steps of %d: section %d is %q of %v: %.80q, want %q: %.80q", step, i, s.name, s.object, s.text, names[i], want)
			}
			at++
		}
		if at != len(d.sections) {
			t.Errorf("in steps of %d: %d sections, want %d", step, len(d.sections), at)
		}
	}
}

// A long text is kept compressed: 50 MB of it take less than 5 MB.
func TestALongTextIsKeptCompressed(t *testing.T) {
	const jobs = 10_000
	d := &draft{}
	write := func(w io.Writer) (err error) {
		_, err = io.WriteString(w, "scrape_configs:\n")
		for i := range jobs {
			_, err = fmt.Fprintf(w, "- job_name: job-%d\n%s", i, strings.Repeat("  relabel_configs: []\n", 230))
		}
		return err
	}
	if err := d.cut(write, nil); err != nil || len(d.sections) != jobs || len(d.file) > 5<<20 {
		t.Fatalf("%d sections, %d bytes, %v", len(d.sections), len(d.file), err)
	}
	if err := d.load([]*draftSection{&d.sections[jobs-1]}); err != nil || !strings.HasPrefix(d.sections[jobs-1].text, "- job_name: job-9999\n  relabel") {
		t.Errorf("the last section is %.100q, %v", d.sections[jobs-1].text, err)
	}
}

// A configuration that is too long to be parsed is rejected before parsing.
func TestTreeIsBounded(t *testing.T) {
	c := New(Parts{Memory: inflight.New(64 << 20)})
	write := func(bytes int) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(make([]byte, bytes))
			return err
		}
	}
	if _, _, err := c.tree(t.Context(), write(maxTreeText+1)); err == nil || !strings.Contains(err.Error(), "operator render") {
		t.Errorf("a long text: %v", err)
	}
	text, release, err := c.tree(t.Context(), write(1<<20))
	if err != nil || len(text) != 1<<20 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	defer release()
	if _, err := c.Memory.Take(t.Context(), 48<<20, 0); err == nil {
		t.Error("a tree takes no memory")
	}
}

// Long drafts are evicted, except for the most recent one.
func TestDraftsFit(t *testing.T) {
	var s drafts
	add := func(name string, size int) *keptDraft {
		d := &keptDraft{of: &entry{ref: catalog.Ref{Name: name}}, made: &draft{file: make([]byte, size)}}
		s.finish(d)
		return d
	}
	var all []*keptDraft
	for i := range 3 {
		all = append(all, add(fmt.Sprint(i), maxDraftBytes/2+1))
	}
	if len(s.last) != 2 || s.last[1] != all[2] || s.last[0] != all[1] {
		t.Errorf("%d drafts are kept", len(s.last))
	}
	huge := add("huge", 2*maxDraftBytes)
	if s.finished(huge.of.ref) != huge {
		t.Error("the draft that was made last is gone")
	}
	newer := add("huge", 1)
	if s.finished(huge.of.ref) != newer {
		t.Error("an older draft of a workload is kept")
	}
}
