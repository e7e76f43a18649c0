package preview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Reason is one for which targets of a job are not scraped.
type Reason struct {
	State targets.State `json:"state"`
	// Origin is the field whose step drops them, and Want what the step wants of targets;
	// empty in other states.
	Origin string `json:"origin,omitempty"`
	Want   string `json:"want,omitempty"`
	Count  int    `json:"count"`
	// Found is what they are instead, the most frequent first; up to maxFound.
	Found []Finding `json:"found,omitempty"`
}

// Finding is what was found instead of what a step wants, or why a target cannot be scraped.
type Finding struct {
	Message string `json:"message"`
	Count   int    `json:"count"`
	// Sources are some of the objects of these targets, for people: "Service demo/web".
	Sources []string `json:"sources,omitempty"`
	// More says that there are other sources.
	More bool `json:"more,omitempty"`
}

const (
	maxFound   = 5  // findings of a reason
	maxCounted = 50 // different ones that are told apart
	maxSources = 3
)

// reasons collects those of a job.
type reasons struct{ all []Reason }

// add counts a target that is not scraped.
func (r *reasons) add(t *targets.Target) {
	if t.State == targets.Kept {
		return
	}
	key := Reason{State: t.State}
	message := t.Message
	if d := t.Drop; d != nil {
		key.Origin, key.Want, message = d.Origin, d.Want, maskedFound(d)
	}
	i := slices.IndexFunc(r.all, func(o Reason) bool { return o.State == key.State && o.Origin == key.Origin && o.Want == key.Want })
	if i < 0 {
		i = len(r.all)
		r.all = append(r.all, key)
	}
	r.all[i].Count++
	r.all[i].find(message, sourceOf(t))
}

// find counts what was found.
func (r *Reason) find(message, source string) {
	i := slices.IndexFunc(r.Found, func(f Finding) bool { return f.Message == message })
	if i < 0 {
		if len(r.Found) == maxCounted {
			return
		}
		i = len(r.Found)
		r.Found = append(r.Found, Finding{Message: message})
	}
	f := &r.Found[i]
	f.Count++
	switch {
	case source == "" || slices.Contains(f.Sources, source):
	case len(f.Sources) == maxSources:
		f.More = true
	default:
		f.Sources = append(f.Sources, source)
	}
}

// list are the reasons, the most frequent first.
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

// sourceOf is the object in which a target was found, as people know it: a Service rather
// than its EndpointSlice.
func sourceOf(t *targets.Target) string {
	s := t.Source
	if name := t.Discovered["__meta_kubernetes_service_name"]; name != "" {
		s.Kind, s.Name = "Service", name
	}
	switch {
	case s.Kind == "Node":
		return "Node " + s.Name
	case s.Kind != "":
		return explain.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}.String()
	case t.Discovered != nil:
		return "address " + strings.TrimSpace(t.Discovered["__address__"])
	}
	return ""
}
