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

// Scrapes are the scrape jobs of a workload, with the origin of each relabel step.
type Scrapes struct {
	// Sources are the selected objects, in the order of the configuration, followed by the
	// workload's own jobs.
	Sources []ScrapeSource
	// Unmanaged is true if the user manages the configuration, so that its jobs are unknown.
	Unmanaged bool
	// PerNode is true if each pod scrapes the targets on its own node. Then there are no shards.
	PerNode bool
	// Shards is the number of shards, 1 with PerNode.
	Shards int
	// BySeries is true if the discovery service places targets by their series, not by hash.
	BySeries bool
	// ServiceAccount is the service account of the pods. Empty means "default".
	ServiceAccount string
	// Trouble is the error that keeps the operator from writing this configuration, or nil.
	Trouble error
}

// noDefaultPort is a feature of servers before 3.0 that changes the addresses of targets.
const noDefaultPort = "no-default-scrape-port"

// ScrapeSource is a part of a configuration with jobs.
type ScrapeSource struct {
	// Kind and Object identify the object with the jobs. They are empty for the workload's own
	// jobs.
	Kind   string
	Object catalog.Object
	// Field is the field of the workload with the jobs. It is empty for jobs of an object.
	Field string
	// Err is the reason why there are no jobs: the object is rejected or could not be read.
	Err error
	// Document has the jobs. It is invalid if Err is set.
	Document promconfig.JobText
	// Compiled is the compiled object. A [Scraper] returns the same pointer until one of the
	// object's inputs changes; the rest of the document does not matter. It is nil for the
	// workload's own jobs.
	Compiled *CompiledMonitor
}

// Scraper compiles the objects that one workload selects, and on later calls only those that
// changed. It is not safe for concurrent use.
type Scraper struct {
	Options Options

	kind     *engine.Kind
	gatherer *gatherer
	seen     map[objectName]bool // the objects of the last call
}

// objectName identifies a compiled object.
type objectName struct {
	kind   string
	object types.NamespacedName
}

// Close releases the compiled objects.
func (s *Scraper) Close() {
	if s.gatherer != nil {
		s.gatherer.Close()
		s.gatherer, s.seen = nil, nil
	}
}

// additionalField is the field with the workload's own jobs.
const additionalField = "spec.additionalScrapeConfigs"

// ScrapesOf compiles the objects that a workload selects in a cluster, like a reconciliation.
//
// Errors: the workload is invalid, so that nothing can be compiled. Errors in its own part of the
// configuration are in the result instead.
func ScrapesOf(w v1.Workload, c engine.Cluster, opts Options) (Scrapes, error) {
	s := Scraper{Options: opts}
	defer s.Close()
	return s.Scrapes(w, c, func(*CompiledMonitor) bool { return false })
}

// Shard is a shard of a workload.
type Shard struct {
	// Name of its StatefulSet.
	Name string
	// Zone of its pods with topology sharding, else "", and its position among the shards there.
	Zone     string
	Position int
}

// ShardsOf returns the shards that a workload has with another number of shards; none in mode DaemonSet.
//
// Errors: the workload is invalid.
func ShardsOf(w v1.Workload, shards int32, opts Options) (out []Shard, err error) {
	o := workloadOf(w.DeepCopyObject().(v1.Workload))
	o.Fields.Shards = &shards
	settings, err := opts.settings(o)
	if err != nil || o.usesDaemonSet() {
		return nil, err
	}
	names := o.builder(opts.Workload).ShardNames()
	for i, name := range names {
		zone, position := settings.ShardZone(int32(i))
		out = append(out, Shard{name, zone, int(position)})
	}
	return out, nil
}

// Scrapes is like [ScrapesOf] and reuses earlier results. If knows returns true for an object,
// its document has no text.
func (s *Scraper) Scrapes(w v1.Workload, c engine.Cluster, knows func(*CompiledMonitor) bool) (Scrapes, error) {
	o := s.Options.workloadOf(w)
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
	settings, err := s.Options.settings(o)
	if err != nil {
		return Scrapes{}, err
	}
	settings = settings.WithOrigins()
	shards := settings.ShardVariables()
	out := Scrapes{
		PerNode: o.usesDaemonSet(), Shards: len(shards), ServiceAccount: o.Fields.ServiceAccountName, Unmanaged: s.Options.unmanaged(o),
		BySeries: o.builder(s.Options.Workload).BySeries(),
	}
	if out.Unmanaged {
		return out, nil
	}
	in := &Inputs{Workload: o, Live: c.Live, options: g.Options, documents: g.documents}
	g.family.monitors.Use(g.workload, settings.Key())
	g.monitors.Begin(settings.Key())
	monitorCompiler{g, c, selectors, settings, in}.compile()
	s.forget(in.Monitors)
	in.fitSelection(settings, c)
	frame, err := o.frame(settings, nil, c.References)
	out.Trouble = err
	base := promconfig.JobText{
		Head: frame.Head, Shards: shards, Release: settings.Target().Version, NoDefaultPort: slices.Contains(o.Fields.EnableFeatures, noDefaultPort),
	}
	for m := range in.Monitors.All() {
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

// forget drops the compiled results of objects that are no longer selected.
func (s *Scraper) forget(selected Monitors) {
	now := make(map[objectName]bool, len(s.seen))
	for m := range selected.All() {
		now[objectName{m.Kind, types.NamespacedName{Namespace: m.Object.GetNamespace(), Name: m.Object.GetName()}}] = true
	}
	for gone := range s.seen {
		if !now[gone] {
			s.kind.Gone(gone.kind, gone.object)
		}
	}
	s.seen = now
}

// text returns the monitor's part of the configuration and the origins of its relabel steps.
func (m Monitor) text() ([]byte, [][]promconfig.Origin, error) {
	var text bytes.Buffer
	_, err := m.Piece.WriteTo(&text)
	return text.Bytes(), m.Origins, err
}

// additionalSource returns the jobs in the frame of a workload. err is the error of the frame.
func additionalSource(base promconfig.JobText, frame promconfig.Frame, err error) ScrapeSource {
	out := ScrapeSource{Field: additionalField, Document: base}
	if err != nil {
		out.Err = fmt.Errorf("not read, as the workload is invalid: %w", err)
		return out
	}
	out.Document.Text, out.Document.Origins = frame.Additional, frame.Origins
	return out
}
