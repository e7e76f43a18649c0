package prometheus

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Options are the settings of both kinds, from the operator's flags.
type Options struct {
	Workload         workload.Config
	Capabilities     promconfig.Capabilities
	DisableUnmanaged bool // never let the user manage the configuration
	// DiscoveryCA reads the CA of the discovery service; nil if there is none of its own.
	DiscoveryCA func() ([]byte, error)
	// Scaling reads how many shards workloads should have; nil: they keep the number that they have.
	Scaling func() (scaling.Document, error)
	// MaxSecretBytes limits the bytes of a configuration in one Secret. 0 means
	// [configsecret.MaxBytes] and, for parts, [configsecret.MaxPartBytes].
	MaxSecretBytes int
}

// family is the state that both kinds share. Monitors are compiled once for all workloads
// with equal settings.
type family struct {
	Options
	servers, agents *engine.Kind
	monitors        fragments.Cache[*CompiledMonitor]
	rules           *rules.Cache
	chunks          document.Chunks // shared by all configurations
}

// Kinds returns the kinds Prometheus and PrometheusAgent. ruleCache may be shared with
// other kinds that evaluate rules.
func Kinds(opts Options, ruleCache *rules.Cache) (servers, agents *engine.Kind) {
	f := &family{Options: opts, rules: ruleCache}
	f.monitors.Deps = func(m *CompiledMonitor) []assets.Dependency { return m.Deps }
	f.servers = f.kind(&engine.Kind{
		Row: catalog.Prometheus, Controller: "prometheus-controller", Label: "prometheus", Queue: "prometheus",
		Names: promworkload.ServerKind, Selects: append(slices.Clone(monitors), ruleObjects),
		Ahead: &engine.Ahead{Of: catalog.PrometheusRule, Compile: f.compileRules},
	})
	f.agents = f.kind(&engine.Kind{
		Row: catalog.PrometheusAgent, Controller: "prometheusagent-controller", Label: "prometheus-agent", Queue: "prometheusagent",
		Names: promworkload.AgentKind, Selects: monitors,
	})
	if opts.Capabilities.AgentDaemonSet {
		f.agents.DaemonSets = strings.Join([]string{managed, wellknown.LabelOwnerName, wellknown.Having(wellknown.LabelMode, f.agents.Names.Mode)}, ",")
	}
	return f.servers, f.agents
}

// managed is the label selector of objects that the operator has created.
var managed = wellknown.Having(wellknown.LabelManagedBy, wellknown.ManagedBy)

// kind adds the settings that both kinds share.
func (f *family) kind(k *engine.Kind) *engine.Kind {
	k.Program = "Prometheus"
	k.StatefulSets = strings.Join([]string{
		managed, wellknown.LabelShard, wellknown.LabelOwnerName, wellknown.Having(wellknown.LabelMode, k.Names.Mode),
	}, ",")
	k.Shape = func(w v1.Workload) engine.Shape { return shape(f.workloadOf(w), f.Workload) }
	k.Open = func(key types.NamespacedName) engine.Gatherer {
		w := fragments.Workload{Kind: k.Kind, Namespace: key.Namespace, Name: key.Name}
		return &gatherer{
			family: f, workload: w, documents: configsecret.New(&f.chunks, f.MaxSecretBytes),
			ruleFiles: rules.Compiler{Cache: f.rules, Workload: w},
		}
	}
	k.Gone = func(kind string, object types.NamespacedName) {
		if kind == v1.PrometheusRuleKind {
			f.rules.Forget(kind, object.Namespace, object.Name)
			return
		}
		f.monitors.Forget(kind, object.Namespace, object.Name)
	}
	k.ChargeTo = func(charge fragments.Charge) {
		f.monitors.ChargeTo(charge)
		f.rules.ChargeTo(charge)
	}
	k.Outside = f.outside()
	k.Status = f.status
	k.Gauges = gauges
	return k
}

func (f *family) kindOf(o Workload) *engine.Kind {
	if o.Server != nil {
		return f.servers
	}
	return f.agents
}

// shape describes the objects that run the pods of a workload.
func shape(o Workload, cfg workload.Config) engine.Shape {
	b := o.builder(cfg)
	out := engine.Shape{
		Replicas: b.Replicas(), Selector: b.SelectorLabels(), Server: workload.ContainerPrometheus,
		Service:   engine.Service{Name: b.ServiceName(), Custom: b.CustomService(), Ports: b.ServicePorts()},
		Reloaders: reloaders(o, cfg),
	}
	if o.usesDaemonSet() {
		out.DaemonSet, out.Service.Custom = b.PrefixedName(), false
		return out
	}
	for i, name := range b.ShardNames() {
		out.Sets = append(out.Sets, engine.Set{Name: name, Title: "shard " + strconv.Itoa(i) + ": "})
	}
	return out
}

// reloaders returns how to reach the reloaders of the workload's pods.
func reloaders(o Workload, cfg workload.Config) delivery.Pod {
	out := delivery.Pod{Scheme: "http"}
	if o.Fields.ListenLocal {
		return out
	}
	if o.Fields.Web != nil && o.Fields.Web.TLSConfig != nil {
		out.Scheme = "https"
	}
	out.Ports = []int{workload.ConfigReloaderPort}
	out.ServerPort, out.RuntimeInfo = promworkload.ServerPort, path.Join("/", o.Fields.RoutePrefix, promworkload.RuntimeInfoPath)
	if o.Server != nil && cfg.Layout != workload.LayoutSingle {
		out.Ports = append(out.Ports, workload.RulesReloaderPort)
	}
	return out
}

// status returns the desired and the current status of a workload.
func (f *family) status(w v1.Workload, s engine.Status) (want, have any) {
	o := f.workloadOf(w)
	out := v1.PrometheusStatus{WorkloadStatus: s.WorkloadStatus, ShardStatuses: s.Sets}
	out.Conditions = append(out.Conditions, f.scalingConditions(o)...)
	if !s.Bare {
		out.Selector, out.Shards = s.Selector, ptr.Deref(o.Fields.Shards, 1)
	}
	return out, *o.Status
}

// gauges are metrics of the specs, besides replicas.
var gauges = []engine.Gauge{
	{Name: "prometheus_operator_spec_shards", Help: "Desired shards.", Value: func(w v1.Workload) (float64, bool) {
		return float64(ptr.Deref(workloadOf(w).Fields.Shards, 1)), true
	}},
	{
		Name: "prometheus_operator_prometheus_enforced_sample_limit", Help: "Global limit on the number of scraped samples per scrape target.",
		Value: func(w v1.Workload) (float64, bool) {
			limit := workloadOf(w).Fields.EnforcedSampleLimit
			return float64(ptr.Deref(limit, 0)), limit != nil
		},
	},
}
