package promworkload

import (
	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Names of the objects of a Prometheus and a PrometheusAgent.
var (
	ServerKind = workload.Kind{
		Row:    catalog.Prometheus,
		Prefix: "prometheus", AppName: "prometheus", Mode: "server",
		NameLabels: []string{wellknown.LabelOwnerName, wellknown.LabelPrometheus}, RuleLabel: wellknown.LabelRuleOwner,
		Service: "prometheus-operated", OperatedLabel: wellknown.LabelOperated,
		Container: containerPrometheus, Port: webPort,
		Data: data, ConfigSecret: config, RulesDir: wellknown.PrometheusRuleDir, ConfigCarriesRules: true,
	}
	AgentKind = workload.Kind{
		Row:    catalog.PrometheusAgent,
		Prefix: "prom-agent", AppName: "prometheus-agent", Mode: "agent",
		NameLabels: []string{wellknown.LabelOwnerName},
		Service:    "prometheus-agent-operated", OperatedLabel: wellknown.LabelOperated,
		Container: containerPrometheus, Port: webPort,
		Data: data, ConfigSecret: config,
	}
	data   = workload.Data{Suffix: "-db", Dir: storageDir, SubPath: "prometheus-db"}
	config = workload.ConfigSecret{Key: ConfigKey, Volume: configVolume} // the name of the Secret is that of shard 0
)

// Owner is a Prometheus or a PrometheusAgent with the settings of the operator. Its
// methods build the objects of the workload and never modify it.
type Owner struct {
	*workload.Base
	common    *v1.CommonPrometheusFields
	server    *v1.PrometheusSpec // nil for an agent
	daemonSet bool

	version       *semver.Version // nil if err is set
	thanosVersion *semver.Version // nil if err is set or there is no sidecar
	compaction    compaction
	err           error // returned by everything that depends on a version
}

// ForServer returns the [Owner] for a Prometheus. Methods that need a version return an
// error if it does not parse. Names and labels do not need it.
func ForServer(p *v1.Prometheus, cfg workload.Config) *Owner {
	o := newOwner(ServerKind, &p.ObjectMeta, &p.Spec.CommonPrometheusFields, cfg)
	o.server = &p.Spec
	o.parseVersions()
	return o
}

// ForAgent returns the [Owner] for a PrometheusAgent in either mode.
func ForAgent(a *v1alpha1.PrometheusAgent, cfg workload.Config) *Owner {
	o := newOwner(AgentKind, &a.ObjectMeta, &a.Spec.CommonPrometheusFields, cfg)
	o.daemonSet = a.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode
	o.parseVersions()
	return o
}

func newOwner(kind workload.Kind, meta *metav1.ObjectMeta, common *v1.CommonPrometheusFields, cfg workload.Config) *Owner {
	return &Owner{
		Base:   &workload.Base{Kind: kind, Meta: meta, Fields: &common.WorkloadFields, Config: cfg},
		common: common,
	}
}

func (o *Owner) parseVersions() {
	if o.version, o.err = parsePrometheusVersion(o.common.Version); o.err != nil || o.thanos() == nil {
		o.compaction = o.compactionMode()
		return
	}
	version := o.thanos().Version
	if version == "" {
		version = wellknown.DefaultThanosVersion
	}
	o.thanosVersion, o.err = workload.ParseVersion("spec.thanos.version", version)
	o.compaction = o.compactionMode()
}

// thanos returns the sidecar section of the spec, or nil if there is none.
func (o *Owner) thanos() *v1.ThanosSpec {
	if o.server == nil {
		return nil
	}
	return o.server.Thanos
}

// Dropped returns the fields that have no effect on the pods because the version does not
// support them, in the order of the arguments.
func (o *Owner) Dropped() []gate.Dropped {
	if o.err != nil {
		return nil
	}
	out := withWebConfig.Lost("spec.web", o.common.Web != nil, o.version)
	_, dropped := o.ownArgs()
	out = append(out, dropped...)
	if o.thanos() != nil {
		_, dropped = workload.Fill(thanosArgs, o.thanosVersion, o)
		out = append(out, dropped...)
	}
	return out
}
