package prometheus

import (
	"bytes"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Scrapes is what a workload scrapes: its jobs with the origin of each relabel step.
type Scrapes struct {
	// Sources are what it selects, in the order of its configuration, and at the end its
	// own jobs.
	Sources []ScrapeSource
	// Unmanaged says that the configuration is left to the user, so that nothing is known
	// about its jobs.
	Unmanaged bool
	// PerNode says that each pod scrapes the targets on its own node, instead of shards.
	PerNode bool
	// Shards is how many there are; 1 with PerNode.
	Shards int
	// ServiceAccount of its pods; empty for "default".
	ServiceAccount string
	// Trouble is why the operator does not write this configuration; nil when it does.
	Trouble error
}

// noDefaultPort is a feature of servers before 3.0, which changes the addresses of targets.
const noDefaultPort = "no-default-scrape-port"

// ScrapeSource is one part of a configuration with jobs.
type ScrapeSource struct {
	// Kind and Object that made the jobs; of the workload's own jobs, nothing.
	Kind   string
	Object catalog.Object
	// Field of the workload that has the jobs; empty for those of an object.
	Field string
	// Err is why there are no jobs: the object is rejected, or could not be read.
	Err error
	// Document has the jobs. It is of no use with Err.
	Document promconfig.JobText
	// Compiled is what the object was compiled to: of a [Scraper], the same value as before
	// while nothing that it depends on has changed, but for the rest of the document. nil for the
	// workload's own jobs.
	Compiled *CompiledMonitor
}

// Scraper compiles what one workload selects again and again: only what has changed. It is not
// safe for concurrent use.
type Scraper struct {
	Options Options

	kind     *engine.Kind
	gatherer *gatherer
	seen     map[objectName]bool // of the last time
}

// objectName names an object that was compiled.
type objectName struct {
	kind   string
	object types.NamespacedName
}

// Close ends its use.
func (s *Scraper) Close() {
	if s.gatherer != nil {
		s.gatherer.Close()
		s.gatherer, s.seen = nil, nil
	}
}

// additionalField is the field of a workload with jobs of its own.
const additionalField = "spec.additionalScrapeConfigs"

// ScrapesOf compiles what a workload selects in a cluster, as a reconciliation does.
//
// Errors: the workload is wrong, so that nothing can be compiled. What is wrong with its
// own part of the configuration is in the result.
func ScrapesOf(w v1.Workload, c engine.Cluster, opts Options) (Scrapes, error) {
	s := Scraper{Options: opts}
	defer s.Close()
	return s.Scrapes(w, c, func(*CompiledMonitor) bool { return false })
}

// Scrapes is [ScrapesOf]. The documents of objects that the caller knows have no text.
func (s *Scraper) Scrapes(w v1.Workload, c engine.Cluster, knows func(*CompiledMonitor) bool) (Scrapes, error) {
	o := ownerOf(w)
	if s.gatherer == nil {
		servers, agents := Kinds(s.Options, &rules.Cache{})
		s.kind = servers
		if o.Agent != nil {
			s.kind = agents
		}
		s.gatherer = s.kind.Open(o.Key()).(*gatherer)
	}
	g := s.gatherer
	selectors, err := s.kind.Selectors(w)
	if err != nil {
		return Scrapes{}, err
	}
	settings, err := o.settings(s.Options.Capabilities)
	if err != nil {
		return Scrapes{}, err
	}
	settings = settings.WithOrigins()
	shards := settings.ShardVariables()
	out := Scrapes{
		PerNode: o.usesDaemonSet(), Shards: len(shards), ServiceAccount: o.Fields.ServiceAccountName, Unmanaged: s.Options.unmanaged(o),
	}
	if out.Unmanaged {
		return out, nil
	}
	in := &Inputs{Owner: o, Live: c.Live, options: g.Options, documents: g.documents}
	g.family.monitors.Use(g.owner, settings.Key())
	g.monitors.Begin(settings.Key())
	monitorCompiler{g, c, selectors, settings, in}.compile()
	s.forget(in.Monitors)
	in.fitSelection(settings, c)
	frame, err := o.frame(settings, nil, c.References)
	out.Trouble = err
	base := promconfig.JobText{
		Head: frame.Head, Shards: shards, Release: settings.Target().Version, NoDefaultPort: slices.Contains(o.Fields.EnableFeatures, noDefaultPort),
	}
	for _, m := range in.Monitors {
		source := ScrapeSource{Kind: m.Kind, Object: m.Object, Err: m.Err, Document: base, Compiled: m.CompiledMonitor}
		if m.Err == nil && !knows(m.CompiledMonitor) {
			source.Document.Text, source.Document.Origins, source.Err = m.text()
		}
		out.Sources = append(out.Sources, source)
	}
	if o.Fields.AdditionalScrapeConfigs != nil {
		out.Sources = append(out.Sources, additionalSource(base, frame, err))
	}
	return out, nil
}

// forget drops what was compiled of objects that are not selected any more.
func (s *Scraper) forget(selected []Monitor) {
	now := make(map[objectName]bool, len(selected))
	for _, m := range selected {
		now[objectName{m.Kind, types.NamespacedName{Namespace: m.Object.GetNamespace(), Name: m.Object.GetName()}}] = true
	}
	for gone := range s.seen {
		if !now[gone] {
			s.kind.Gone(gone.kind, gone.object)
		}
	}
	s.seen = now
}

// text is the monitor's part of the configuration.
func (m Monitor) text() ([]byte, [][]promconfig.Origin, error) {
	var text bytes.Buffer
	_, err := m.Piece.WriteTo(&text)
	return text.Bytes(), m.Origins, err
}

// additionalSource are the jobs in the frame of a workload; err is that of the frame.
func additionalSource(base promconfig.JobText, frame promconfig.Frame, err error) ScrapeSource {
	out := ScrapeSource{Field: additionalField, Document: base}
	if err != nil {
		out.Err = fmt.Errorf("not read, as the workload is invalid: %w", err)
		return out
	}
	out.Document.Text, out.Document.Origins = frame.Additional, frame.Origins
	return out
}
