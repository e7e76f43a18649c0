package preview

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Kinds are the kinds of workloads that scrape.
var Kinds = []*catalog.Row{catalog.Prometheus, catalog.PrometheusAgent}

// Workload is a workload with its compiled jobs.
type Workload struct {
	catalog.Ref
	// ServiceAccount is the account that its pods use for discovery; empty for "default".
	ServiceAccount string
	Shards         int
	// PerNode is set if each pod scrapes the targets on its own node, instead of shards.
	PerNode bool
	// Error is the reason why its jobs are unknown; empty if they are known.
	Error string
	// Notes are further remarks for the user.
	Notes []string

	parts   []part
	object  v1.Workload
	reshard *reshard // only if the query is about another number of shards
	servers servers
}

// part is one object with jobs, or the jobs of the workload itself.
type part struct {
	object Object
	jobs   []targets.Job
	use    nearmiss.Use // the discoveries of the jobs of an object
}

// Read compiles the jobs of a workload in a cluster.
func Read(c explain.Candidate, cluster engine.Cluster, opts prometheus.Options) Workload {
	scrapes, err := prometheus.ScrapesOf(c.Object, cluster, opts)
	return read(c, scrapes, err, reading{jobs: jobsOf, hints: true})
}

// reading is how the sources of a workload are read.
type reading struct {
	jobs  func(prometheus.ScrapeSource) ([]targets.Job, error)
	hints bool // also read what hints need
}

// read returns a workload with its scrapes. A non-nil err is the reason why they are unknown.
func read(c explain.Candidate, scrapes prometheus.Scrapes, err error, how reading) Workload {
	w := Workload{Ref: c.Ref(), object: c.Object}
	switch {
	case err != nil:
		w.Error = fmt.Sprintf("the %s is invalid: %v", w.Kind, err)
		return w
	case scrapes.Unmanaged:
		w.Error = "its configuration is left to you (all its selectors are unset), so its jobs are not known"
		return w
	}
	w.ServiceAccount, w.Shards, w.PerNode = scrapes.ServiceAccount, scrapes.Shards, scrapes.PerNode
	w.servers = serversOf(c)
	if c.Object.GetWorkloadFields().Paused {
		w.Notes = append(w.Notes, "spec.paused is true: its pods keep the configuration they had, and these are the targets without it")
	}
	if w.Shards > 1 && scrapes.BySeries {
		w.Notes = append(w.Notes, "the targets that the discovery service finds are placed by series ("+wellknown.AnnotationSharding+": weighted): their shards here are those of the hash, and its status page says which shard has how many")
	}
	switch err := scrapes.Trouble; {
	case unread(err):
		w.Notes = append(w.Notes, fmt.Sprintf("not all of its configuration can be read: %v", err))
	case err != nil:
		w.Notes = append(w.Notes, fmt.Sprintf("it is invalid, so the operator does not write this configuration: %v", err))
	}
	for _, s := range scrapes.Sources {
		w.parts = append(w.parts, w.part(s, how))
	}
	return w
}

// unread reports whether an error is due to missing permissions or temporary.
func unread(err error) bool { return assets.IsTemporary(err) || assets.IsRefused(err) }

// part reads the jobs of a source.
func (w *Workload) part(s prometheus.ScrapeSource, how reading) part {
	out := part{object: Object{Ref: w.Ref, Field: s.Field, State: Accepted}}
	if s.Object != nil {
		out.object.Ref = catalog.RefOf(s.Kind, s.Object)
	}
	if err := s.Err; err != nil {
		out.object.State, out.object.Error = Rejected, err.Error()
		if unread(err) || s.Object == nil {
			out.object.State = Unknown
		}
		return out
	}
	var err error
	if out.jobs, err = how.jobs(s); err != nil { // the operator accepts them, so jobs exist
		out.object.State, out.object.Error = Unknown, err.Error()
	}
	if s.Object == nil || !how.hints || err != nil {
		return out
	}
	out.use = nearmiss.Use{Kind: s.Kind, Object: s.Object}
	text := string(s.Document.Text)
	out.use.Searches, _ = nearmiss.Read(s.Object, text, text, w.Namespace) // without them there are no hints
	return out
}
