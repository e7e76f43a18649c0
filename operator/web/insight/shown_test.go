package insight

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/configfile"
)

// Long sections are omitted, and so are sections beyond the limit of a response.
func TestShownIsBounded(t *testing.T) {
	c, d := New(Parts{Memory: inflight.New(64 << 20)}), &configfile.File{Mask: &configfile.Masker{}}
	var some []numberedSection
	for i, bytes := range append([]int{maxSection + 1}, slices.Repeat([]int{maxSection - 1000}, maxShown/maxSection+2)...) {
		some = append(some, numberedSection{i, configfile.Section{Name: "scrape_configs", Text: strings.Repeat("# comment\n", bytes/10+1)}.Sized()})
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
		d := &keptDraft{of: &entry{ref: catalog.Ref{Name: name}}, made: &configfile.File{Compressed: make([]byte, size)}}
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
