// Package scene has what tests and benchmarks need to run a Prometheus with central discovery outside of a pod.
package scene

import (
	"bytes"
	"fmt"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Config is a configuration of a Prometheus, as the operator generates it, for a server or an agent that runs outside of a
// pod.
type Config struct {
	// Prometheus or Agent has its annotation, version and shards; the other one is nil.
	Prometheus      *v1.Prometheus
	Agent           *v1alpha1.PrometheusAgent
	PodMonitors     []*v1.PodMonitor
	ServiceMonitors []*v1.ServiceMonitor

	// APIServer is the URL that its own discovery uses. TokenFile and CAFile are for it; both may be empty.
	APIServer, TokenFile, CAFile string
	// Lists is the host:port of the lists in config-reloader.
	Lists string
}

// Text returns the configuration, with references to variables of the pod.
func (c Config) Text() (string, error) {
	settings, frame, err := c.compile()
	if err != nil {
		return "", err
	}
	jobs := map[string][][]byte{}
	for _, m := range c.PodMonitors {
		f := promconfig.CompilePodMonitor(m, settings, &assets.Static{})
		if f.Err != nil {
			return "", f.Err
		}
		jobs[v1.PodMonitorKind] = append(jobs[v1.PodMonitorKind], f.YAML)
	}
	for _, m := range c.ServiceMonitors {
		f := promconfig.CompileServiceMonitor(m, settings, &assets.Static{})
		if f.Err != nil {
			return "", f.Err
		}
		jobs[v1.ServiceMonitorKind] = append(jobs[v1.ServiceMonitorKind], f.YAML)
	}
	var text bytes.Buffer
	for _, part := range promconfig.Assemble(&frame, func(kind string) [][]byte { return jobs[kind] }) {
		text.Write(part.Text)
		text.Write(bytes.Join(part.Monitors, nil))
	}
	access := "\n    api_server: " + c.APIServer + "\n"
	if c.TokenFile != "" {
		access += fmt.Sprintf("    authorization: {credentials_file: %q}\n    tls_config: {ca_file: %q}\n", c.TokenFile, c.CAFile)
	}
	return strings.NewReplacer("role: pod\n", "role: pod"+access, "role: endpointslice\n", "role: endpointslice"+access, wellknown.TargetsAddress, c.Lists).Replace(text.String()), nil
}

// compile returns what the jobs of the workload have in common, and the rest of its configuration.
func (c Config) compile() (*promconfig.Settings, promconfig.Frame, error) {
	capabilities := promconfig.Capabilities{EndpointSlice: true, CentralDiscovery: true, ShardRetention: true}
	if c.Agent != nil {
		settings, err := promconfig.AgentSettings(c.Agent, capabilities)
		if err != nil {
			return nil, promconfig.Frame{}, err
		}
		frame, err := promconfig.CompileAgent(c.Agent, settings, &assets.Static{})
		return settings, frame, err
	}
	settings, err := promconfig.ServerSettings(c.Prometheus, capabilities)
	if err != nil {
		return nil, promconfig.Frame{}, err
	}
	frame, err := promconfig.CompileServer(c.Prometheus, settings, nil, &assets.Static{})
	return settings, frame, err
}
