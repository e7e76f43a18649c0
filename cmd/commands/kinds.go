package commands

import (
	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/thanosruler"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// kinds are the kinds of workloads that the operator manages, in the order of managed.
//
// Errors: a quantity does not parse.
func (o *Options) kinds(kubernetes *semver.Version) ([]*engine.Kind, error) {
	opts, err := o.prometheus(kubernetes)
	if err != nil {
		return nil, err
	}
	cfg, cache := opts.Workload, &rules.Cache{}
	servers, agents := prometheus.Kinds(opts, cache)
	return []*engine.Kind{servers, agents, thanosruler.Kind(cfg, cache), alertmanager.Kind(cfg)}, nil
}

// prometheus is what the flags say about Prometheus and PrometheusAgent.
//
// Errors: a quantity does not parse.
func (o *Options) prometheus(kubernetes *semver.Version) (prometheus.Options, error) {
	cfg, err := o.workload()
	return prometheus.Options{Workload: cfg, Capabilities: o.capabilities(kubernetes), DisableUnmanaged: o.DisableUnmanaged}, err
}

// newestKubernetes is the version that objects are checked for where there is no cluster.
const newestKubernetes = "1.36.0"

// objectKinds returns what makes kinds for the webhook that checks single objects. It does
// not know the flags of the operator that will use them, so it takes their defaults, and
// all that a feature gate allows.
//
// Errors: those of kinds.
func objectKinds() (func() []*engine.Kind, error) {
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	if _, err := app.Parse([]string{"--feature-gates=" + gateAgentDaemonSet + "=true"}); err != nil {
		return nil, err
	}
	kubernetes, err := parseKubernetes(newestKubernetes)
	if err != nil {
		return nil, err
	}
	if _, err := o.kinds(kubernetes); err != nil {
		return nil, err
	}
	return func() []*engine.Kind {
		kinds, err := o.kinds(kubernetes)
		if err != nil {
			panic(err) // the same flags made kinds before
		}
		return kinds
	}, nil
}

// setups are the kinds and how their controllers run, and what all of them read.
//
// Errors: a quantity or a list of namespaces does not parse.
func (o *Options) setups(kubernetes *semver.Version) ([]engine.Setup, engine.Scopes, error) {
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return nil, engine.Scopes{}, err
	}
	configs, err := informer.NewNamespaces(o.Namespaces, o.DenyNamespaces)
	if err != nil {
		return nil, engine.Scopes{}, err
	}
	of, err := o.configNamespaces()
	if err != nil {
		return nil, engine.Scopes{}, err
	}
	var out []engine.Setup
	scopes := engine.Scopes{
		Configs: configs, Of: of,
		SecretFields: o.SecretFields, SecretLabels: o.SecretLabels,
		ConfigMapFields: o.ConfigMapFields, ConfigMapLabels: o.ConfigMapLabels,
	}
	for i, k := range kinds {
		own, err := o.Instances.namespaces(k.Row, configs)
		if err != nil {
			return nil, scopes, err
		}
		if i == 0 {
			scopes.Instances = own
		}
		scopes.Instances = scopes.Instances.Union(own)
		out = append(out, engine.Setup{Kind: k, Options: o.engine(k, own, scopes.SelectedBy(k))})
	}
	return out, scopes, nil
}

// configNamespaces are the namespaces of kinds that have a list of their own.
func (o *Options) configNamespaces() (map[*catalog.Row]informer.Namespaces, error) {
	if len(o.AlertmanagerConfigNamespaces) == 0 {
		return nil, nil
	}
	own, err := informer.NewNamespaces(o.AlertmanagerConfigNamespaces, nil)
	return map[*catalog.Row]informer.Namespaces{catalog.AlertmanagerConfig: own.Of("--alertmanager-config-namespaces")}, err
}

// engine is what the flags say about the controller of a kind.
func (o *Options) engine(k *engine.Kind, own, configs informer.Namespaces) engine.Options {
	out := engine.Options{
		ControllerID: o.ControllerID, Instances: own, InstanceSelector: o.Instances.of(k.Row).Selector,
		Repair:       rollout.RepairPolicy(o.RepairPolicy),
		ConfigStatus: o.FeatureGates.On(gateConfigStatus),
		Workers:      o.workers(),
	}
	out.References = own
	if o.WatchReferences {
		out.References = own.Union(configs)
	}
	if !o.RestartForReloaderImage {
		out.HoldImages = []string{o.ConfigReloaderImage, o.RulesReloaderImage}
	}
	return out
}
