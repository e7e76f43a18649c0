package workload

import (
	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// kind is what a server and an agent have under different names.
type kind struct {
	name       string // of the custom resource
	apiVersion string
	prefix     string // of generated objects
	appName    string // value of LabelAppName
	mode       string // value of LabelMode
	service    string // default governing Service
}

var (
	serverKind = kind{
		name: "Prometheus", apiVersion: "monitoring.coreos.com/v1",
		prefix: "prometheus", appName: "prometheus", mode: "server", service: "prometheus-operated",
	}
	agentKind = kind{
		name: "PrometheusAgent", apiVersion: "monitoring.coreos.com/v1alpha1",
		prefix: "prom-agent", appName: "prometheus-agent", mode: "agent", service: "prometheus-agent-operated",
	}
)

// Owner is a Prometheus or a PrometheusAgent together with the operator's
// settings. Its methods build what belongs to it; they never change the object.
type Owner struct {
	kind      kind
	meta      *metav1.ObjectMeta
	common    *v1.CommonPrometheusFields
	server    *v1.PrometheusSpec // nil for an agent
	daemonSet bool
	cfg       Config

	version       *semver.Version // nil with err
	thanosVersion *semver.Version // nil with err or without a sidecar
	compaction    compaction
	err           error // reported by everything that depends on a version
}

// ForServer is the owner for a Prometheus. A version that does not parse is
// reported by what needs it; names and labels work without.
func ForServer(p *v1.Prometheus, cfg Config) *Owner {
	o := &Owner{kind: serverKind, meta: &p.ObjectMeta, common: &p.Spec.CommonPrometheusFields, server: &p.Spec, cfg: cfg}
	o.parseVersions()
	return o
}

// ForAgent is the owner for a PrometheusAgent in either mode.
func ForAgent(a *v1alpha1.PrometheusAgent, cfg Config) *Owner {
	o := &Owner{kind: agentKind, meta: &a.ObjectMeta, common: &a.Spec.CommonPrometheusFields, cfg: cfg}
	o.daemonSet = a.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode
	o.parseVersions()
	return o
}

func (o *Owner) parseVersions() {
	if o.version, o.err = parsePrometheusVersion(o.common.Version); o.err != nil || o.thanos() == nil {
		o.compaction = o.compactionMode()
		return
	}
	version := o.thanos().Version
	if version == "" {
		version = DefaultThanosVersion
	}
	o.thanosVersion, o.err = parseVersion("spec.thanos.version", version)
	o.compaction = o.compactionMode()
}

// thanos is the sidecar's part of the spec, nil without one.
func (o *Owner) thanos() *v1.ThanosSpec {
	if o.server == nil {
		return nil
	}
	return o.server.Thanos
}

// Dropped lists the fields that have no effect on the pods because the version
// is too old for them, sorted as the arguments are.
func (o *Owner) Dropped() []gate.Dropped {
	if o.err != nil {
		return nil
	}
	var out []gate.Dropped
	if o.common.Web != nil && !withWebConfig.has(o.version) {
		out = append(out, gate.Dropped{Path: "spec.web", Need: ">= " + withWebConfig.since})
	}
	_, dropped := o.ownArgs()
	out = append(out, dropped...)
	if o.thanos() != nil {
		_, dropped = fill(thanosArgs, o.thanosVersion, o)
		out = append(out, dropped...)
	}
	return out
}
