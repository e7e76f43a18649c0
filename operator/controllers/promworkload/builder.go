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
		Container: workload.ContainerPrometheus, Port: webPort, GraceSeconds: graceSeconds, Web: serverWeb, TLSAssetsDir: tlsAssetsDir,
		Data: data, ConfigSecret: config, RulesDir: wellknown.PrometheusRuleDir, ConfigCarriesRules: true,
	}
	AgentKind = workload.Kind{
		Row:    catalog.PrometheusAgent,
		Prefix: "prom-agent", AppName: "prometheus-agent", Mode: "agent",
		NameLabels: []string{wellknown.LabelOwnerName},
		Service:    "prometheus-agent-operated", OperatedLabel: wellknown.LabelOperated,
		Container: workload.ContainerPrometheus, Port: webPort, GraceSeconds: graceSeconds, Web: serverWeb, TLSAssetsDir: tlsAssetsDir,
		Data: data, ConfigSecret: config,
	}
	data   = workload.Data{Suffix: "-db", Dir: storageDir, SubPath: "prometheus-db"}
	config = workload.ConfigSecret{Key: ConfigKey, Volume: configVolume} // the name of the Secret is that of shard 0

	serverWeb = workload.Web{Dir: "/etc/prometheus/web_config", In: workload.Versions{Since: "2.24.0"}}
)

// Builder builds the objects of a Prometheus or a PrometheusAgent, which it never modifies.
type Builder struct {
	*workload.Base
	common    *v1.CommonPrometheusFields
	server    *v1.PrometheusSpec // nil for an agent
	daemonSet bool

	thanosVersion *semver.Version // nil if Err is set or there is no sidecar
	compaction    compaction
}

// ForServer returns the [Builder] for a Prometheus. Methods that need a version return an
// error if it does not parse. Names and labels do not need it.
func ForServer(p *v1.Prometheus, cfg workload.Config) *Builder {
	b := newBuilder(ServerKind, &p.ObjectMeta, &p.Spec.CommonPrometheusFields, cfg)
	b.server = &p.Spec
	b.parseVersions()
	return b
}

// ForAgent returns the [Builder] for a PrometheusAgent in either mode.
func ForAgent(a *v1alpha1.PrometheusAgent, cfg workload.Config) *Builder {
	b := newBuilder(AgentKind, &a.ObjectMeta, &a.Spec.CommonPrometheusFields, cfg)
	b.daemonSet = a.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode
	if b.daemonSet { // has the web configuration in any version, as in the reference
		b.Kind.Web.In = workload.Versions{}
	}
	b.parseVersions()
	return b
}

func newBuilder(kind workload.Kind, meta *metav1.ObjectMeta, common *v1.CommonPrometheusFields, cfg workload.Config) *Builder {
	b := &Builder{
		Base:   &workload.Base{Kind: kind, Meta: meta, Fields: &common.WorkloadFields, Config: cfg},
		common: common,
	}
	if common.Web != nil {
		b.Web = &common.Web.WebConfigFileFields
	}
	return b
}

func (b *Builder) parseVersions() {
	if b.Version, b.Err = parsePrometheusVersion(b.common.Version); b.Err != nil || b.thanos() == nil {
		b.compaction = b.compactionMode()
		return
	}
	version := b.thanos().Version
	if version == "" {
		version = wellknown.DefaultThanosVersion
	}
	b.thanosVersion, b.Err = workload.ParseVersion("spec.thanos.version", version)
	b.compaction = b.compactionMode()
}

// thanos returns the sidecar section of the spec, or nil if there is none.
func (b *Builder) thanos() *v1.ThanosSpec {
	if b.server == nil {
		return nil
	}
	return b.server.Thanos
}

// Dropped returns the fields that have no effect on the pods because the version does not
// support them, in the order of the arguments.
func (b *Builder) Dropped() []gate.Dropped {
	if b.Err != nil {
		return nil
	}
	_, dropped := b.ownArgs()
	out := append(b.LostWeb(), dropped...)
	if b.thanos() != nil {
		_, dropped = workload.Fill(thanosArgs, b.thanosVersion, b)
		out = append(out, dropped...)
	}
	return out
}
