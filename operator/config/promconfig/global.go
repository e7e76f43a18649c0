package promconfig

import (
	"maps"
	"path"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Global is the global block.
type Global struct {
	// ScrapeInterval is the default for jobs.
	ScrapeInterval v1.Duration `yaml:"scrape_interval"`
	// ScrapeTimeout is the default for jobs.
	ScrapeTimeout v1.Duration `yaml:"scrape_timeout,omitempty"`
	// ScrapeProtocols are in order of preference. The server rejects an empty list.
	ScrapeProtocols []ScrapeProtocol `yaml:"scrape_protocols,omitempty" since:"2.49.0" empty:"drop"`
	// ExternalLabels are added to samples and alerts that are sent to external systems.
	ExternalLabels map[string]string `yaml:"external_labels"`
	// GlobalLimits are the defaults for jobs.
	GlobalLimits `yaml:",inline"`
	// ScrapeFailureLogFile is the log file of failed scrapes.
	ScrapeFailureLogFile string `yaml:"scrape_failure_log_file,omitempty" since:"2.55.0"`
	// MetricNameValidationScheme is utf8 or legacy.
	MetricNameValidationScheme string `yaml:"metric_name_validation_scheme,omitempty" since:"3.0.0"`
	// MetricNameEscapingScheme is requested when scraping.
	MetricNameEscapingScheme string `yaml:"metric_name_escaping_scheme,omitempty" since:"3.4.0"`
	// ConvertClassicHistogramsToNHCB stores classic histograms as native ones.
	ConvertClassicHistogramsToNHCB *bool `yaml:"convert_classic_histograms_to_nhcb,omitempty" since:"3.4.0"`
	// AlwaysScrapeClassicHistograms also scrapes classic histograms that have native counterparts.
	AlwaysScrapeClassicHistograms *bool `yaml:"always_scrape_classic_histograms,omitempty" since:"3.5.0"`
	// ScrapeNativeHistograms enables scraping native histograms.
	ScrapeNativeHistograms *bool `yaml:"scrape_native_histograms,omitempty" since:"3.8.0"`
	// EvaluationInterval is the default for rule groups.
	EvaluationInterval v1.Duration `yaml:"evaluation_interval,omitempty" mode:"server"`
	// RuleQueryOffset is the offset into the past at which rules are evaluated.
	RuleQueryOffset v1.Duration `yaml:"rule_query_offset,omitempty" since:"2.53.0" mode:"server"`
	// QueryLogFile is the log file of queries.
	QueryLogFile string `yaml:"query_log_file,omitempty" since:"2.16.0" mode:"server"`
}

// globalFrom returns the settings that servers and agents have in common.
func globalFrom(f *v1.CommonPrometheusFields, namespace, name string, c Capabilities) (Global, []faults.Finding) {
	limits, warnings := enforcedFrom(f).global(f)
	labels, more := externalLabels(f, namespace, name, c)
	return Global{
		ScrapeInterval:                 orDefault(f.ScrapeInterval),
		ScrapeTimeout:                  f.ScrapeTimeout,
		ScrapeProtocols:                scrapeProtocols(f.ScrapeProtocols),
		ExternalLabels:                 labels,
		GlobalLimits:                   limits,
		ScrapeFailureLogFile:           logFile(f.ScrapeFailureLogFile),
		MetricNameValidationScheme:     lower(f.NameValidationScheme),
		MetricNameEscapingScheme:       escapingSchemes[f.NameEscapingScheme],
		ConvertClassicHistogramsToNHCB: f.ConvertClassicHistogramsToNHCB,
		AlwaysScrapeClassicHistograms:  f.ScrapeClassicHistograms,
		ScrapeNativeHistograms:         f.ScrapeNativeHistograms,
	}, append(warnings, more...)
}

var escapingSchemes = map[v1.NameEscapingSchemeOptions]string{
	v1.AllowUTF8NameEscapingScheme:   "allow-utf-8",
	v1.UnderscoresNameEscapingScheme: "underscores",
	v1.DotsNameEscapingScheme:        "dots",
	v1.ValuesNameEscapingScheme:      "values",
}

func orDefault(d v1.Duration) v1.Duration {
	if d == "" {
		return defaultInterval
	}
	return d
}

// logDir is a volume that is writable in the pod.
const logDir = "/var/log/prometheus"

// logFile places a bare file name into the writable volume.
func logFile(name string) string {
	if name == "" || path.Dir(name) != "." {
		return name
	}
	return path.Join(logDir, path.Base(name))
}

// defaultReplicaLabel is the external label that distinguishes replicas.
const defaultReplicaLabel = "prometheus_replica"

// externalLabels returns the reserved labels and the user's labels. Reserved labels take precedence.
func externalLabels(f *v1.CommonPrometheusFields, namespace, name string, c Capabilities) (labels map[string]string, warnings []faults.Finding) {
	labels = map[string]string{}
	fields := map[string]string{} // fields that name the reserved labels
	reserve := func(field, label, value string) {
		if label != "" {
			labels[label], fields[label] = value, field
		}
	}
	reserve("prometheusExternalLabelName", ptr.Deref(f.PrometheusExternalLabelName, "prometheus"), namespace+"/"+name)
	reserve("replicaExternalLabelName", ptr.Deref(f.ReplicaExternalLabelName, defaultReplicaLabel), "$(POD_NAME)")
	// Without zones, nothing substitutes the variable.
	if topology := topologyOf(f, c); topology != nil && len(topology.Values) > 0 {
		reserve("shardingStrategy.topology.externalLabelName", ptr.Deref(topology.ExternalLabelName, "zone"), "$(TOPOLOGY_ZONE)")
	}
	for _, label := range slices.Sorted(maps.Keys(f.ExternalLabels)) {
		if _, taken := labels[label]; taken {
			warnings = append(warnings, faults.Remark(faults.Key("spec.externalLabels", label), "%q is reserved and ignored; remove it, or give the label of the operator another name with spec.%s", label, fields[label]))
			continue
		}
		labels[label] = f.ExternalLabels[label]
	}
	return labels, warnings
}

// checkExternalLabels rejects names that are invalid for the version, because the server
// would reject the entire file.
func checkExternalLabels(f *v1.CommonPrometheusFields, c Capabilities, rules relabelRules) error {
	type label struct {
		field, name string
		set         bool // whether an empty name counts
	}
	names := []label{
		{"prometheusExternalLabelName", ptr.Deref(f.PrometheusExternalLabelName, ""), false},
		{"replicaExternalLabelName", ptr.Deref(f.ReplicaExternalLabelName, ""), false},
	}
	if topology := topologyOf(f, c); topology != nil {
		names = append(names, label{"shardingStrategy.topology.externalLabelName", ptr.Deref(topology.ExternalLabelName, ""), false})
	}
	for _, name := range slices.Sorted(maps.Keys(f.ExternalLabels)) {
		names = append(names, label{faults.Key("externalLabels", name), name, true})
	}
	var errs faults.List
	for _, n := range names {
		if (n.name != "" || n.set) && !rules.plain.valid(n.name) {
			errs.Add(n.field, invalidName(n.name))
		}
	}
	return errs.Err()
}

// serverGlobal adds the settings that only servers have.
func serverGlobal(p *v1.Prometheus, c Capabilities) (Global, []faults.Finding) {
	g, warnings := globalFrom(&p.Spec.CommonPrometheusFields, p.Namespace, p.Name, c)
	g.EvaluationInterval = orDefault(p.Spec.EvaluationInterval)
	g.RuleQueryOffset = p.Spec.RuleQueryOffset
	g.QueryLogFile = logFile(p.Spec.QueryLogFile)
	return g, warnings
}
