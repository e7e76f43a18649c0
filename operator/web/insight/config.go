package insight

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Config implements [Answers].
func (c *Cluster) Config(ctx context.Context, r Rights, o Object, q ConfigQuery) (*Config, error) {
	w, e, err := c.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	text, err := c.draftOf(ctx, w, e)
	if err != nil {
		return nil, err
	}
	a := w.asking(ctx, r)
	matching := []numberedSection{}
	for i, s := range text.sections {
		if q.has(s.name) || s.object.Name != "" && q.has(s.object.String()) {
			matching = append(matching, numberedSection{i, s})
		}
	}
	some, part, err := take(matching, q.Page, func(s *numberedSection) string { return fmt.Sprintf("%010d", s.at) })
	if err != nil {
		return nil, err
	}
	out := &Config{Workload: e.ref, Sections: []ConfigSection{}, Part: part, Unread: appendNew(slices.Clone(text.unread), w.unread...)}
	if out.Sections, err = c.show(ctx, text, some, a); err != nil {
		return nil, err
	}
	var objects []catalog.Ref
	for _, s := range some {
		if row := catalog.Of(s.object.Kind); row != nil && s.job != "" && s.size <= maxSection {
			objects = append(objects, s.object)
		}
	}
	if len(objects) > 0 && !text.stale { // else line numbers may differ
		origins := c.origins(ctx, w, e, objects)
		for i := range out.Sections {
			if s := &out.Sections[i]; s.Text != "" && some[i].job != "" {
				s.Origins = lineOrigins(s.Text, origins[some[i].job])
			}
		}
	}
	out.Unread = appendNew(out.Unread, a.unread...)
	return out, nil
}

// numberedSection is a section and its index in the file.
type numberedSection struct {
	at int
	draftSection
}

// Limits of a response in bytes. Redacting a section takes about 25 times its size in memory.
const (
	maxSection = 512 << 10
	maxShown   = 2 << 20
	maskWeight = 25
)

// show returns sections with credentials redacted. Sections of objects that the caller may not get
// have only a comment that explains why.
//
// Errors: the text cannot be read; there is not enough memory now.
func (c *Cluster) show(ctx context.Context, d *draft, some []numberedSection, a *asker) ([]ConfigSection, error) {
	out, room, longest := make([]ConfigSection, len(some)), maxShown, 0
	var shown []int
	var load []*draftSection
	for i := range some {
		s := &some[i].draftSection
		out[i] = ConfigSection{Name: s.name, Object: s.object}
		if out[i].Text = whyHidden(s, a, &room); out[i].Text == "" {
			shown, load, longest = append(shown, i), append(load, s), max(longest, s.size)
		}
	}
	release, err := c.reserve(ctx, int64(2*(maxShown-max(room, 0))+maskWeight*longest))
	if err != nil {
		return nil, err
	}
	defer release()
	if err := d.load(load); err != nil {
		return nil, err
	}
	for _, i := range shown {
		out[i].Text, err = d.mask.section(some[i].draftSection, func(namespace, name string) bool {
			return a.details(catalog.Ref{Kind: catalog.AlertmanagerConfig.Kind, Namespace: namespace, Name: name})
		})
		if err != nil {
			out[i].Text = "# not shown: it cannot be read as YAML\n"
		}
	}
	return out, nil
}

// whyHidden returns the reason why the text of a section is not shown; empty if it is shown.
func whyHidden(s *draftSection, a *asker, room *int) string {
	if s.object.Name != "" && !a.details(s.object) {
		return "# " + hiddenDetails(s.object) + "\n"
	}
	if s.size > maxSection {
		return fmt.Sprintf("# not shown here: it has %d KiB; operator render shows it\n", s.size>>10)
	}
	if s.size > *room {
		return "# not shown: the sections before it are long; ask for fewer at a time\n"
	}
	*room -= s.size
	return ""
}
