package commands

import (
	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/thanosruler"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// kinds returns the kinds of workloads that the operator manages, in the order of managed.
//
// Errors: a quantity does not parse.
func (o *operatorOptions) kinds(kubernetes *semver.Version) ([]*engine.Kind, error) {
	opts, err := o.prometheus(kubernetes)
	if err != nil {
		return nil, err
	}
	cfg, cache := opts.Workload, &rules.Cache{}
	servers, agents := prometheus.Kinds(opts, cache)
	return []*engine.Kind{servers, agents, thanosruler.Kind(cfg, cache), alertmanager.Kind(cfg)}, nil
}

// prometheus returns the settings of Prometheus and PrometheusAgent from the flags.
//
// Errors: a quantity does not parse.
func (o *operatorOptions) prometheus(kubernetes *semver.Version) (prometheus.Options, error) {
	cfg, err := o.workload()
	return prometheus.Options{Workload: cfg, Capabilities: o.capabilities(kubernetes), DisableUnmanaged: o.DisableUnmanaged, DiscoveryCA: o.Central.readCA(), Scaling: o.Central.readShards()}, err
}

// newestKubernetes is the Kubernetes version to assume without a cluster.
const newestKubernetes = "1.36.0"

// objectKinds returns a function that creates kinds for the webhook that checks single
// objects. The webhook does not have the flags of the operator, so it uses the defaults
// and allows everything that a feature gate can enable.
//
// Errors: those of kinds.
func objectKinds() (func() []*engine.Kind, error) {
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	if _, err := app.Parse([]string{
		"--feature-gates=" + gateAgentDaemonSet + "=true", "--central-discovery=" + optIn, "--central-discovery-address=discovery:8443",
	}); err != nil {
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
			panic(err) // cannot happen: the same flags worked above
		}
		return kinds
	}, nil
}

// setups returns the kinds with the options of their controllers, and the scopes that all
// controllers share.
//
// Errors: a quantity or a list of namespaces does not parse.
func (o *operatorOptions) setups(kubernetes *semver.Version) ([]engine.Setup, engine.Scopes, error) {
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

// engine returns the options of the controller of a kind from the flags.
func (o *operatorOptions) engine(k *engine.Kind, own, configs informer.Namespaces) engine.Options {
	out := engine.Options{
		ControllerID: o.ControllerID, Instances: own, InstanceSelector: o.Instances.of(k.Row).Selector,
		Repair:       rollout.RepairPolicy(o.RepairPolicy),
		ConfigStatus: o.FeatureGates.On(gateConfigStatus),
		Workers:      o.workers(),
		Labels:       o.Labels,
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
