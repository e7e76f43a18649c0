package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Head is the part of the document before scrape_configs.
type Head struct {
	// Global holds the global settings.
	Global Global `yaml:"global"`
	// Runtime holds settings of the Go runtime.
	Runtime *Runtime `yaml:"runtime,omitempty" since:"2.53.0"`
	// RuleFiles are globs.
	RuleFiles []string `yaml:"rule_files,omitempty" mode:"server"`
}

// Tail is the part of the document after scrape_configs.
type Tail struct {
	// Storage holds settings for samples and exemplars.
	Storage *Storage `yaml:"storage,omitempty" since:"2.29.0" empty:"drop"`
	// Alerting holds the Alertmanagers to notify.
	Alerting *Alerting `yaml:"alerting,omitempty" mode:"server"`
	// RemoteWrite holds the endpoints to write to.
	RemoteWrite []*RemoteWrite `yaml:"remote_write,omitempty"`
	// RemoteRead holds the endpoints to read from.
	RemoteRead []*RemoteRead `yaml:"remote_read,omitempty" mode:"server"`
	// OTLP holds the settings of the OTLP receiver.
	OTLP *OTLP `yaml:"otlp,omitempty" since:"2.55.0" empty:"drop"`
	// Tracing holds the settings for tracing the server itself.
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

// serverRuntime returns nil for versions that get the setting as an environment variable instead, so that it is not
// reported as dropped. Agents never get the variable.
func serverRuntime(r *v1.RuntimeConfig, t gate.Target) *Runtime {
	if !t.AtLeast("2.53.0") {
		return nil
	}
	return runtimeFrom(r)
}
