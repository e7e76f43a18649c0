package document

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestJobsAreSmall: a piece only holds the differences between a job and others, and every content is restored.
func TestJobsAreSmall(t *testing.T) {
	job := strings.NewReplacer("namespace/name", "team-7/app-1234", "- namespace\n", "- team-7\n", "(name)", "(app-1234)").Replace(string(jobText))
	for name, tc := range map[string]struct {
		content string
		most    int // bytes held
	}{
		"a job":           {job, 200},
		"two jobs":        {job + strings.ReplaceAll(job, "app-1234/0", "app-1234/1"), 300},
		"the typical job": {string(jobText), 100},
		"something else":  {strings.Repeat("receivers:\n- name: tenant\n", 4000), 8000},
		"large":           {strings.Repeat(job, 200), 100_000},
		"small":           {"tail", 4},
	} {
		for kind, p := range map[string]*Piece{"": NewPiece("p", []byte(tc.content)), " as text": NewTextPiece("p", [32]byte{}, []byte(tc.content))} {
			var out bytes.Buffer
			if _, err := p.WriteTo(&out); err != nil || out.String() != tc.content {
				t.Errorf("%s%s: another content: %v", name, kind, err)
			}
			if kind == "" && len(p.kept) > tc.most {
				t.Errorf("%s: %d of %d bytes held, want at most %d", name, len(p.kept), len(tc.content), tc.most)
			}
		}
	}
}

// BenchmarkNewPiece measures a typical job.
func BenchmarkNewPiece(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		NewPiece("p", bytes.ReplaceAll(jobText, []byte("name/0"), fmt.Appendf(nil, "app-%d/0", i)))
	}
}
