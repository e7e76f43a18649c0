package configfile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// File is the configuration of a workload as the operator compiles it, with placeholders for
// values of Secrets. It is redacted when it is shown. The text of a Prometheus may be long. It is
// kept compressed and decompressed for the sections that are shown.
type File struct {
	Sections   []Section
	Unread     []string // notes on what is missing
	Mask       *Masker
	Compressed []byte // the text; empty if the sections have it
	Stale      bool   // the workload has changed since
}

// Section is a section of the file.
type Section struct {
	Name   string
	Job    string // if the section is a job
	Object catalog.Ref
	Text   string // empty until it is read from the file
	Size   int    // length of the text, in bytes
	at     int    // offset in the file, in bytes
}

// ScrapeConfigs is the key of jobs.
const ScrapeConfigs = "scrape_configs"

// Sized sets the size of a section that has its text.
func (s Section) Sized() Section {
	s.Size = len(s.Text)
	return s
}

// NoConfig is the note for a configuration without sections.
const NoConfig = "the operator writes no configuration: it is left to you, or there is nothing to write"

// WithoutAdditional removes the references of w to additional configuration, which would be copied
// verbatim from Secrets. It returns sections that name these Secrets.
func WithoutAdditional(w v1.Workload) (v1.Workload, []Section) {
	var out []Section
	take := func(field, name string, from **corev1.SecretKeySelector) {
		if s := *from; s != nil {
			out = append(out, Section{Name: name, Text: fmt.Sprintf("# from key %s of Secret %s (%s), not shown\n", s.Key, s.Name, field)}.Sized())
			*from = nil
		}
	}
	switch w := w.(type) {
	case *v1.Prometheus:
		take("spec.additionalScrapeConfigs", ScrapeConfigs+" (additional)", &w.Spec.AdditionalScrapeConfigs)
		take("spec.additionalAlertManagerConfigs", "alerting.alertmanagers (additional)", &w.Spec.AdditionalAlertManagerConfigs)
		take("spec.additionalAlertRelabelConfigs", "alerting.alert_relabel_configs (additional)", &w.Spec.AdditionalAlertRelabelConfigs)
	case *v1alpha1.PrometheusAgent:
		take("spec.additionalScrapeConfigs", ScrapeConfigs+" (additional)", &w.Spec.AdditionalScrapeConfigs)
	}
	return w, out
}
