package preview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// reason writes why targets are not scraped, and the findings.
func (t text) reason(r *Reason) { t.indented(r, "") }

// indented is like reason with an indent.
func (t text) indented(r *Reason, indent string) {
	switch {
	case r.State == targets.OtherShard:
		return
	case r.State == targets.Unknown, r.State == targets.Forbidden:
		for _, f := range r.Found {
			t.line(indent+"  %s  %s", r.State, f.Message)
		}
		return
	case r.Want != "":
		t.line(indent+"  %d dropped by %s, which %s", r.Count, r.Origin, r.Want)
	case r.Origin != "":
		t.line(indent+"  %d dropped by %s", r.Count, r.Origin)
	default:
		t.line(indent+"  %d %s", r.Count, states[r.State])
	}
	left := r.Count
	for _, f := range r.Found {
		n := ""
		if len(r.Found) > 1 || f.Count < r.Count {
			n = fmt.Sprintf("%d: ", f.Count)
		}
		t.line(indent+"    %s", strings.TrimRight(n+f.Message+"   "+sources(&f), " "))
		left -= f.Count
	}
	if left > 0 {
		t.line(indent+"    %d: others", left)
	}
}

// sources returns the objects of a finding: "Services demo/db, demo/cache and others".
func sources(f *Finding) string {
	var kinds, names []string
	for _, s := range f.Sources {
		kind, name, _ := strings.Cut(s, " ")
		kinds, names = append(kinds, kind), append(names, name)
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); len(kinds) != 1 {
		names = f.Sources
	} else if kind := kinds[0]; len(names) > 1 {
		names[0] = many(kind) + " " + names[0]
	} else {
		names[0] = kind + " " + names[0]
	}
	out := strings.Join(names, ", ")
	if f.More {
		out += " and others"
	}
	return out
}

// many returns the plural of a kind.
func many(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}
