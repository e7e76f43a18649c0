package configfile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

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
		d := &File{}
		if err := d.Split(func(w io.Writer) error {
			for part := range slices.Chunk([]byte(text), step) {
				if _, err := w.Write(part); err != nil {
					return err
				}
			}
			return nil
		}, map[string]catalog.Ref{"serviceMonitor/a/b/0": owner}); err != nil {
			t.Fatal(err)
		}
		var wanted []*Section
		for i := range d.Sections {
			wanted = append(wanted, &d.Sections[len(d.Sections)-1-i])
		}
		if err := d.Load(wanted); err != nil {
			t.Fatal(err)
		}
		at := 0
		for i, want := range parts {
			if names[i] == "" {
				continue
			}
			if i == 0 {
				// The part before the first key has no name.
				if s := d.Sections[0]; s.Name != "" || s.Text != "# Code generated.\n" {
					t.Errorf("in steps of %d: the head is %q %q", step, s.Name, s.Text)
				}
				at, want = 1, strings.TrimPrefix(want, "# Code generated.\n")
			}
			if s := d.Sections[at]; s.Name != names[i] || s.Text != want || (s.Object == owner) != (i == 3) {
				t.Errorf("in steps of %d: section %d is %q of %v: %.80q, want %q: %.80q", step, i, s.Name, s.Object, s.Text, names[i], want)
			}
			at++
		}
		if at != len(d.Sections) {
			t.Errorf("in steps of %d: %d sections, want %d", step, len(d.Sections), at)
		}
	}
}

// A long text is kept compressed: 50 MB of it take less than 5 MB.
func TestALongTextIsKeptCompressed(t *testing.T) {
	const jobs = 10_000
	d := &File{}
	write := func(w io.Writer) (err error) {
		_, err = io.WriteString(w, "scrape_configs:\n")
		for i := range jobs {
			_, err = fmt.Fprintf(w, "- job_name: job-%d\n%s", i, strings.Repeat("  relabel_configs: []\n", 230))
		}
		return err
	}
	if err := d.Split(write, nil); err != nil || len(d.Sections) != jobs || len(d.Compressed) > 5<<20 {
		t.Fatalf("%d sections, %d bytes, %v", len(d.Sections), len(d.Compressed), err)
	}
	if err := d.Load([]*Section{&d.Sections[jobs-1]}); err != nil || !strings.HasPrefix(d.Sections[jobs-1].Text, "- job_name: job-9999\n  relabel") {
		t.Errorf("the last section is %.100q, %v", d.Sections[jobs-1].Text, err)
	}
}
