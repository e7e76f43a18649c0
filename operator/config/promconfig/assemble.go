package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Part is a section of a document: either a text that belongs to the workload, or the
// monitors of one kind, which other workloads may share.
type Part[M any] struct {
	// Name is the name of a text: "head", "scrape_configs", "none" (no jobs),
	// "additional" or "tail".
	Name string
	Text []byte
	// Kind is the kind of the monitors; empty for a text.
	Kind     string
	Monitors []M
}

// Lines that precede the items of scrape_configs, and that replace an empty list.
const (
	scrapeConfigsKey = "scrape_configs:\n"
	noScrapeConfigs  = "scrape_configs: []\n"
)

// additionalJobs is the section of additional scrape jobs, among the kinds of monitors.
const additionalJobs = "additional"

// Assemble returns the parts of a document in order.
//
// monitors returns the accepted monitors of a kind that have jobs, sorted by
// namespace/name in byte order. M is the type that the caller joins: the text of a
// monitor, or a handle to it.
func Assemble[M any](f *Frame, monitors func(kind string) []M) []Part[M] {
	out := []Part[M]{{Name: "head", Text: f.Head}, {Name: "scrape_configs", Text: []byte(scrapeConfigsKey)}}
	jobs := len(f.Additional) > 0
	for _, section := range f.sections() {
		if section == additionalJobs {
			out = append(out, Part[M]{Name: additionalJobs, Text: f.Additional})
			continue
		}
		part := Part[M]{Kind: section, Monitors: monitors(section)}
		jobs = jobs || len(part.Monitors) > 0
		out = append(out, part)
	}
	if !jobs {
		out[1] = Part[M]{Name: "none", Text: []byte(noScrapeConfigs)}
	}
	return append(out, Part[M]{Name: "tail", Text: f.Tail})
}

// sections returns the kinds of monitors of the document, and [additionalJobs], in the
// order of scrape_configs.
func (f *Frame) sections() []string {
	switch {
	case f.daemonSet: // each pod scrapes only the pods of its node
		return []string{v1.PodMonitorKind, additionalJobs}
	case f.agent:
		return []string{v1.PodMonitorKind, additionalJobs, v1.ServiceMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind}
	}
	return []string{v1.ServiceMonitorKind, v1.PodMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind, additionalJobs}
}
