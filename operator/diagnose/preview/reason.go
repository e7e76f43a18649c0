package preview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Reason is a reason why targets of a job are not scraped.
type Reason struct {
	State targets.State `json:"state"`
	// Origin is the field, or rule of the operator, from which the relabel step that drops the targets is generated.
	// Absent unless they are dropped.
	Origin string `json:"origin,omitempty"`
	// Want is what the relabel step requires of targets. Absent unless they are dropped.
	Want  string `json:"want,omitempty"`
	Count int    `json:"count"` // number of targets
	// Found lists what was found instead, the most frequent first, at most 5 items.
	Found []Finding `json:"found,omitempty"`
}

// Finding is a property of targets that does not meet the requirement of a relabel step, or the reason why targets
// cannot be scraped.
type Finding struct {
	Message string `json:"message"`
	Count   int    `json:"count"` // number of targets
	// Sources lists some of the objects of these targets, human-readable, for example "Service demo/web".
	Sources []string `json:"sources,omitempty"`
	// More is true if there are other sources.
	More bool `json:"more,omitempty"`
}

const (
	maxFound   = 5  // findings per reason
	maxCounted = 50 // distinct findings that are counted
	maxSources = 3
)

// reasons collects the reasons of a job.
type reasons struct {
	all  []Reason
	seen map[*targets.Drop]spot
}

// spot is the position of a counter: the indexes of a reason and its finding, -1 for none.
type spot struct{ reason, finding int }

// add counts a target that is not scraped.
func (r *reasons) add(t *targets.Row) {
	if t.State == targets.Kept {
		return
	}
	at, seen := r.seen[t.Drop] // many targets share one
	if !seen || t.Drop == nil {
		at = r.spot(t)
	}
	if t.Drop != nil && !seen {
		if r.seen == nil {
			r.seen = map[*targets.Drop]spot{}
		}
		r.seen[t.Drop] = at
	}
	r.all[at.reason].Count++
	if at.finding >= 0 {
		r.all[at.reason].Found[at.finding].count(t)
	}
}

// spot returns the counter of a target and adds it if it is new.
func (r *reasons) spot(t *targets.Row) (at spot) {
	key := Reason{State: t.State}
	message := redact.Text(t.Message)
	if t.Drop != nil {
		d := t.Drop.Redacted()
		key.Origin, key.Want, message = d.Origin, d.Want, d.Found
	}
	at.reason = slices.IndexFunc(r.all, func(o Reason) bool { return o.State == key.State && o.Origin == key.Origin && o.Want == key.Want })
	if at.reason < 0 {
		at.reason = len(r.all)
		r.all = append(r.all, key)
	}
	reason := &r.all[at.reason]
	at.finding = slices.IndexFunc(reason.Found, func(f Finding) bool { return f.Message == message })
	if at.finding < 0 && len(reason.Found) < maxCounted {
		at.finding = len(reason.Found)
		reason.Found = append(reason.Found, Finding{Message: message})
	}
	return at
}

// count counts a target and records its source.
func (f *Finding) count(t *targets.Row) {
	f.Count++
	if f.More || t.State == targets.Unknown || t.State == targets.Forbidden {
		return
	}
	source := sourceOf(t.Source(), t.Label)
	switch {
	case source == "" || slices.Contains(f.Sources, source):
	case len(f.Sources) == maxSources:
		f.More = true
	default:
		f.Sources = append(f.Sources, source)
	}
}

// list returns the reasons, sorted by state, then by frequency.
func (r *reasons) list() []Reason {
	for i := range r.all {
		found := r.all[i].Found
		slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Message, b.Message)) })
		r.all[i].Found = found[:min(len(found), maxFound)]
	}
	slices.SortStableFunc(r.all, func(a, b Reason) int {
		return cmp.Or(rank(a.State)-rank(b.State), b.Count-a.Count, cmp.Compare(a.Origin, b.Origin))
	})
	return r.all
}

func rank(s targets.State) int { return slices.Index(targets.States, s) }

// sourceOf returns the object in which a target was discovered, in the form familiar to users: a
// Service rather than its EndpointSlice.
func sourceOf(s targets.Source, label func(model.LabelName) string) string {
	if name := label("__meta_kubernetes_service_name"); name != "" {
		s.Kind, s.Name = "Service", name
	}
	switch s.Kind {
	case "Node":
		return "Node " + s.Name
	case "":
		return "address " + redact.Text(strings.TrimSpace(label("__address__")))
	}
	return catalog.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}.String()
}
