package commands

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// operandOptions are the flags of generated objects.
type operandOptions struct {
	Labels, Annotations      map[string]string
	ConfigReloaderImage      string
	PartsReaders             []string
	RulesReloaderImage       string
	PrometheusBase           string
	ThanosBase               string
	AlertmanagerBase         string
	Localhost, ClusterDomain string
	CPURequest, CPULimit     string
	MemoryRequest            string
	MemoryLimit              string
	ReloaderProbes           bool
	ReloaderLayout           string
	DisableUnmanaged         bool
	RepairPolicy             string
	InstantDelivery          bool
	GrowClaims               bool
	RestartForReloaderImage  bool
	Central                  centralOptions
}

func (o *operandOptions) bindOperands(flags flagSet) {
	flags.Flag("labels", "Labels to add to every generated object: key=value, comma-separated, repeatable.").SetValue(csvMap{&o.Labels})
	flags.Flag("annotations", "Annotations to add to every generated object: key=value, comma-separated, repeatable.").SetValue(csvMap{&o.Annotations})
	flags.Flag("prometheus-config-reloader", "Image of the config-reloader containers.").
		Default("firekeeper/config-reloader:v" + version.Version).StringVar(&o.ConfigReloaderImage)
	flags.Flag("parts-capable-reloaders", "Repositories (image names without tag) of config-reloaders that read a configuration of more than 1 MiB in parts, comma separated and repeatable. firekeeper/config-reloader is known in any registry; name your mirror of it if it has another name.").
		SetValue(csv{&o.PartsReaders})
	const rulesImage = "Image of the rules-reloader container."
	flags.Flag("config-reloader-image", rulesImage).Default("firekeeper/rules-reloader:v" + version.Version).StringVar(&o.RulesReloaderImage)
	flags.Flag("rules-reloader-image", "Alias of --config-reloader-image.").SetValue(plain{&o.RulesReloaderImage})
	flags.Flag("config-reloader-cpu-request", "CPU request of each reloader container. 0 means none.").Default("10m").StringVar(&o.CPURequest)
	flags.Flag("config-reloader-cpu-limit", "CPU limit of each reloader container. 0 means none.").Default("10m").StringVar(&o.CPULimit)
	flags.Flag("config-reloader-memory-request", "Memory request of each reloader container. 0 means none.").Default("50Mi").StringVar(&o.MemoryRequest)
	flags.Flag("config-reloader-memory-limit", "Memory limit of each reloader container. 0 means none.").Default("50Mi").StringVar(&o.MemoryLimit)
	flags.Flag("enable-config-reloader-probes", "Add probes to the reloader sidecars.").BoolVar(&o.ReloaderProbes)
	flags.Flag("reloader-layout", "Sidecars of each pod: split (config-reloader and rules-reloader) or single (config-reloader for both).").
		Default(string(workload.LayoutSplit)).EnumVar(&o.ReloaderLayout, string(workload.LayoutSplit), string(workload.LayoutSingle))
	flags.Flag("prometheus-default-base-image", "Prometheus image without tag, for objects that set none.").
		Default("quay.io/prometheus/prometheus").StringVar(&o.PrometheusBase)
	flags.Flag("thanos-default-base-image", "Thanos image without tag, for objects that set none.").
		Default("quay.io/thanos/thanos").StringVar(&o.ThanosBase)
	flags.Flag("alertmanager-default-base-image", "Alertmanager image without tag, for objects that set none.").
		Default("quay.io/prometheus/alertmanager").StringVar(&o.AlertmanagerBase)
	flags.Flag("localhost", "Host name that the containers of a pod use to reach each other.").Default("localhost").StringVar(&o.Localhost)
	flags.Flag("cluster-domain", "Cluster domain, appended to service names. Default: none, which relies on the DNS search path of the pods.").StringVar(&o.ClusterDomain)
	flags.Flag("disable-unmanaged-prometheus-configuration", "Also generate the configuration of Prometheus objects that set no selector.").
		BoolVar(&o.DisableUnmanaged)
	flags.Flag("repair-policy-for-statefulsets", "What to do with a pod that is not ready and blocks a rollout: none, evict or delete.").
		Default(string(rollout.RepairNone)).StringVar(&o.RepairPolicy)
	flags.Flag("instant-delivery", "Annotate the pods after a change, so that the kubelet updates their files within about a second instead of one or two minutes (default; --no-instant-delivery disables it).").
		Default("true").BoolVar(&o.InstantDelivery)
	flags.Flag("expand-volume-claims", "Expand PersistentVolumeClaims when an object requests more storage (default; --no-expand-volume-claims disables it).").
		Default("true").BoolVar(&o.GrowClaims)
	o.Central.bind(flags)
	flags.Flag("restart-for-reloader-image", "Replace pods when only the image of their reloaders changed. Without it, they get the new image with the next change that replaces them.").
		BoolVar(&o.RestartForReloaderImage)
}

// validateOperands checks each flag. Errors start with the flag.
func (o *operandOptions) validateOperands() error {
	if err := oneOf(string(rollout.RepairNone), string(rollout.RepairEvict), string(rollout.RepairDelete))(o.RepairPolicy); err != nil {
		return fmt.Errorf("--repair-policy-for-statefulsets=%s: %w", o.RepairPolicy, err)
	}
	for _, text := range o.PartsReaders {
		if err := workload.CheckPartsReader(text); err != nil {
			return fmt.Errorf("--parts-capable-reloaders=%s: %w", text, err)
		}
	}
	return o.Central.validate(workload.Config{PartsReaders: o.PartsReaders}.TargetsReader(o.ConfigReloaderImage))
}

// workload returns the settings of generated objects from the flags.
//
// Errors: a quantity does not parse.
func (o *operatorOptions) workload() (workload.Config, error) {
	cfg := workload.Config{
		OperatorVersion: version.Version,
		Localhost:       o.Localhost,
		Labels:          o.Labels, Annotations: o.Annotations,
		PrometheusBaseImage: o.PrometheusBase, ThanosBaseImage: o.ThanosBase, AlertmanagerBaseImage: o.AlertmanagerBase,
		ClusterDomain:       o.ClusterDomain,
		ConfigReloaderImage: o.ConfigReloaderImage, RulesReloaderImage: o.RulesReloaderImage,
		PartsReaders:         o.PartsReaders,
		EnableReloaderProbes: o.ReloaderProbes,
		Layout:               workload.Layout(o.ReloaderLayout),
		TopologySharding:     o.FeatureGates.On(gateTopologySharding),
		ShardRetention:       o.FeatureGates.On(gateShardRetention),
		WatchAllReferences:   o.WatchReferences,
		Discovery:            o.Central.workload(),
	}
	for _, q := range []struct {
		flag, text, fallback string
		into                 *resource.Quantity
	}{
		{"config-reloader-cpu-request", o.CPURequest, "10m", &cfg.ReloaderResources.CPURequest},
		{"config-reloader-cpu-limit", o.CPULimit, "10m", &cfg.ReloaderResources.CPULimit},
		{"config-reloader-memory-request", o.MemoryRequest, "50Mi", &cfg.ReloaderResources.MemoryRequest},
		{"config-reloader-memory-limit", o.MemoryLimit, "50Mi", &cfg.ReloaderResources.MemoryLimit},
	} {
		text := q.text
		if text == "" {
			text = q.fallback
		}
		var err error
		if *q.into, err = resource.ParseQuantity(text); err != nil {
			return cfg, fmt.Errorf("--%s=%s: %w", q.flag, q.text, err)
		}
	}
	return cfg, nil
}

// Versions of Kubernetes that introduced a feature.
var (
	endpointSlicesSince = semver.MustParse("1.21.0")
	podTopologySince    = semver.MustParse("1.35.0")
)

// parseKubernetes parses the version of an API server. It uses only the numbers, because
// semver would take suffixes of vendors for pre-releases.
func parseKubernetes(text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("parse Kubernetes version %q: %w", text, err)
	}
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", ""), nil
}

func (o *operatorOptions) capabilities(kubernetes *semver.Version) promconfig.Capabilities {
	return promconfig.Capabilities{
		EndpointSlice:     !kubernetes.LessThan(endpointSlicesSince),
		PodTopologyLabels: !kubernetes.LessThan(podTopologySince),
		AgentDaemonSet:    o.FeatureGates.On(gateAgentDaemonSet),
		ShardRetention:    o.FeatureGates.On(gateShardRetention),
		TopologySharding:  o.FeatureGates.On(gateTopologySharding),
		CentralDiscovery:  o.Central.on(),
		Reloaders:         o.PartsReaders,
	}
}
