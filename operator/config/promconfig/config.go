package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Head is the document before scrape_configs.
type Head struct {
	// Global settings.
	Global Global `yaml:"global"`
	// Runtime of the process.
	Runtime *Runtime `yaml:"runtime,omitempty" since:"2.53.0"`
	// RuleFiles are globs.
	RuleFiles []string `yaml:"rule_files,omitempty" mode:"server"`
}

// Tail is the document after scrape_configs.
type Tail struct {
	// Storage of samples and exemplars.
	Storage *Storage `yaml:"storage,omitempty" since:"2.29.0" empty:"drop"`
	// Alerting says which Alertmanagers get alerts.
	Alerting *Alerting `yaml:"alerting,omitempty" mode:"server"`
	// RemoteWrite endpoints.
	RemoteWrite []*RemoteWrite `yaml:"remote_write,omitempty"`
	// RemoteRead endpoints.
	RemoteRead []*RemoteRead `yaml:"remote_read,omitempty" mode:"server"`
	// OTLP settings of the receiver.
	OTLP *OTLP `yaml:"otlp,omitempty" since:"2.55.0" empty:"drop"`
	// Tracing of the server itself.
	Tracing *Tracing `yaml:"tracing,omitempty"`
}

// Runtime is the runtime block.
type Runtime struct {
	// GoGC is the garbage collection target in percent.
	GoGC *int32 `yaml:"gogc,omitempty"`
}

func runtimeFrom(r *v1.RuntimeConfig) *Runtime {
	if r == nil {
		return nil
	}
	return &Runtime{GoGC: r.GoGC}
}
