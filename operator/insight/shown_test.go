package insight

import (
	"strings"
	"testing"
)

// Long sections are not read, nor more of them than an answer shows.
func TestShownIsBounded(t *testing.T) {
	d := &draft{mask: &masker{}}
	section := func(bytes int) draftSection {
		return draftSection{name: "scrape_configs", text: strings.Repeat("# comment\n", bytes/10+1)}
	}
	room := maxShown
	if got := d.show(section(maxSection+1), nil, &room); !strings.HasPrefix(got.Text, "# not shown here: it has 512 KiB; operator render shows it") {
		t.Errorf("a long section is %.100q", got.Text)
	}
	for shown := 0; ; shown++ {
		got := d.show(section(maxSection-1000), nil, &room)
		if strings.HasPrefix(got.Text, "# comment") {
			continue
		}
		if !strings.HasPrefix(got.Text, "# not shown: the sections before it are long") || shown != maxShown/maxSection {
			t.Errorf("after %d sections: %.100q", shown, got.Text)
		}
		break
	}
}

// Drafts with much text are not kept beside others; the one that was asked for is.
func TestDraftsFit(t *testing.T) {
	var s drafts
	var all []*keptDraft
	for range 3 {
		d := s.of(&entry{})
		s.fit(d, maxDraftBytes/2+1)
		all = append(all, d)
	}
	if len(s.last) != 2 || s.last[1] != all[2] || s.last[0] != all[1] {
		t.Errorf("%d drafts are kept", len(s.last))
	}
	huge := s.of(&entry{})
	s.fit(huge, 10*maxDraftBytes)
	if got := s.of(huge.of); got != huge {
		t.Error("the draft that was made last is gone")
	}
}
