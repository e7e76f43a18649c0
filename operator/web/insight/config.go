package insight

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/configfile"
)

// Config implements [Answers].
func (c *Cluster) Config(ctx context.Context, r access.Rights, o Object, q ConfigQuery) (*Config, error) {
	w, e, err := c.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	text, err := c.draftOf(ctx, w, e)
	if err != nil {
		return nil, err
	}
	a := w.checker(ctx, r)
	matching := []numberedSection{}
	for i, s := range text.Sections {
		if q.has(s.Name) || s.Object.Name != "" && q.has(s.Object.String()) {
			matching = append(matching, numberedSection{i, s})
		}
	}
	some, part, err := take(matching, q.Page, func(s *numberedSection) string { return fmt.Sprintf("%010d", s.at) })
	if err != nil {
		return nil, err
	}
	out := &Config{Workload: e.ref, Sections: []ConfigSection{}, Part: part, Unread: access.AppendNotes(slices.Clone(text.Unread), w.unread...)}
	if out.Sections, err = c.show(ctx, text, some, a); err != nil {
		return nil, err
	}
	var objects []catalog.Ref
	for _, s := range some {
		if row := catalog.Of(s.Object.Kind); row != nil && s.Job != "" && s.Size <= maxSection {
			objects = append(objects, s.Object)
		}
	}
	if len(objects) > 0 && !text.Stale { // else line numbers may differ
		origins := c.origins(ctx, w, e, objects)
		for i := range out.Sections {
			if s := &out.Sections[i]; s.Text != "" && some[i].Job != "" {
				s.Origins = configfile.LineOrigins(s.Text, origins[some[i].Job])
			}
		}
	}
	out.Unread = access.AppendNotes(out.Unread, a.Unread...)
	return out, nil
}

// numberedSection is a section and its index in the file.
type numberedSection struct {
	at int
	configfile.Section
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
func (c *Cluster) show(ctx context.Context, d *configfile.File, some []numberedSection, a *access.Checker) ([]ConfigSection, error) {
	out, room, longest := make([]ConfigSection, len(some)), maxShown, 0
	var shown []int
	var load []*configfile.Section
	for i := range some {
		s := &some[i].Section
		out[i] = ConfigSection{Name: s.Name, Object: s.Object}
		if out[i].Text = whyHidden(s, a, &room); out[i].Text == "" {
			shown, load, longest = append(shown, i), append(load, s), max(longest, s.Size)
		}
	}
	release, err := c.reserve(ctx, int64(2*(maxShown-max(room, 0))+maskWeight*longest))
	if err != nil {
		return nil, err
	}
	defer release()
	if err := d.Load(load); err != nil {
		return nil, err
	}
	for _, i := range shown {
		out[i].Text, err = d.Mask.Redact(some[i].Section, func(namespace, name string) bool {
			return a.MayGet(catalog.Ref{Kind: catalog.AlertmanagerConfig.Kind, Namespace: namespace, Name: name})
		})
		if err != nil {
			out[i].Text = "# not shown: it cannot be read as YAML\n"
		}
	}
	return out, nil
}

// whyHidden returns the reason why the text of a section is not shown; empty if it is shown.
func whyHidden(s *configfile.Section, a *access.Checker, room *int) string {
	if s.Object.Name != "" && !a.MayGet(s.Object) {
		return "# " + access.Hidden(s.Object) + "\n"
	}
	if s.Size > maxSection {
		return fmt.Sprintf("# not shown here: it has %d KiB; operator render shows it\n", s.Size>>10)
	}
	if s.Size > *room {
		return "# not shown: the sections before it are long; ask for fewer at a time\n"
	}
	*room -= s.Size
	return ""
}
