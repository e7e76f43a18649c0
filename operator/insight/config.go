package insight

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
)

// Config implements [Answers].
func (c *Cluster) Config(ctx context.Context, r Rights, o Object, q ConfigQuery) (*Config, error) {
	w, err := c.world(ctx)
	if err != nil {
		return nil, err
	}
	e, err := w.of(o)
	if err != nil {
		return nil, err
	}
	text, err := c.draftOf(ctx, w, e)
	if err != nil {
		return nil, err
	}
	a := asking(ctx, r)
	matching := []numbered{}
	for i, s := range text.sections {
		if q.has(s.name) || s.object.Name != "" && q.has(s.object.String()) {
			matching = append(matching, numbered{i, s})
		}
	}
	some, part, err := take(matching, q.Page, func(s *numbered) string { return fmt.Sprintf("%010d", s.at) })
	if err != nil {
		return nil, err
	}
	out := &Config{Workload: e.ref, Sections: []ConfigSection{}, Part: part, Unread: appendNew(slices.Clone(text.unread), w.unread...)}
	var objects []explain.Ref
	room := maxShown
	for _, s := range some {
		out.Sections = append(out.Sections, text.show(s.draftSection, a, &room))
		if row := catalog.Of(s.object.Kind); row != nil && s.job != "" && len(s.text) <= maxSection {
			objects = append(objects, s.object)
		}
	}
	if len(objects) > 0 {
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

// numbered is a section and its place in the file.
type numbered struct {
	at int
	draftSection
}

// What an answer shows. Hiding values in a section takes about 25 times its text.
const (
	maxSection = 512 << 10
	maxShown   = 8 << 20
)

// show is a section without credentials; one of an object that the caller may not get, without
// text.
func (d *draft) show(s draftSection, a *asker, room *int) ConfigSection {
	out := ConfigSection{Name: s.name, Object: s.object}
	if s.object.Name != "" && !a.details(s.object) {
		out.Text = "# " + hiddenDetails(s.object) + "\n"
		return out
	}
	if len(s.text) > maxSection {
		out.Text = fmt.Sprintf("# not shown here: it has %d KiB; operator render shows it\n", len(s.text)>>10)
		return out
	}
	if *room -= len(s.text); *room < 0 {
		out.Text = "# not shown: the sections before it are long; ask for fewer at a time\n"
		return out
	}
	text, err := d.mask.section(s, func(namespace, name string) bool {
		return a.details(explain.Ref{Kind: catalog.AlertmanagerConfig.Kind, Namespace: namespace, Name: name})
	})
	if err != nil {
		text = "# not shown: it cannot be read as YAML\n"
	}
	out.Text = text
	return out
}
