package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Part is a stretch of a document: a text of the owner's own, or the monitors of
// one kind, which other owners may have as well.
type Part[M any] struct {
	// Name of a text: "head", "scrape_configs", "none" (no jobs), "additional" or "tail".
	Name string
	Text []byte
	// Kind of the monitors, "" for a text.
	Kind     string
	Monitors []M
}

// Lines before the items of scrape_configs, and instead of them when there are none.
const (
	scrapeConfigsKey = "scrape_configs:\n"
	noScrapeConfigs  = "scrape_configs: []\n"
)

// additionalJobs stands for the user's own items among the kinds.
const additionalJobs = "additional"

// Assemble lists the parts of a document in their order.
//
// monitors returns the accepted ones of a kind that have jobs, sorted by
// namespace/name in byte order, in the form that the caller joins: their text, or
// what stands for it.
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

// sections are the kinds of monitor that the document has, and [additionalJobs],
// in the order of scrape_configs.
func (f *Frame) sections() []string {
	switch {
	case f.daemonSet: // each pod scrapes the pods of its node and nothing else
		return []string{v1.PodMonitorKind, additionalJobs}
	case f.agent:
		return []string{v1.PodMonitorKind, additionalJobs, v1.ServiceMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind}
	}
	return []string{v1.ServiceMonitorKind, v1.PodMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind, additionalJobs}
}
