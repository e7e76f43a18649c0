package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/logging"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/rollout"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Options are the flags of the operator.
type Options struct {
	Version, ShortVersion bool
	Log                   logging.Options
	ListenAddress         string
	Web                   webTLS
	MemoryRatio           float64
	Idle                  []*idle

	// API server
	Kubeconfig, APIServer         string
	CertFile, KeyFile, CAFile, As string
	TLSInsecure                   bool
	QPS                           float32
	Burst, Workers                int

	// Scope
	Namespaces, DenyNamespaces, PrometheusNamespaces []string
	PrometheusSelector                               string
	SecretFields, SecretLabels                       string
	ConfigMapFields, ConfigMapLabels                 string
	WatchReferences                                  bool
	ControllerID                                     string
	ManageCRDs                                       bool

	// What is written
	Labels, Annotations      map[string]string
	ConfigReloaderImage      string
	PartsReaders             []string
	RulesReloaderImage       string
	PrometheusBase           string
	ThanosBase               string
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
	FeatureGates             featureGates
}

// Bind declares the flags.
func (o *Options) Bind(app *kingpin.Application) {
	o.bindProcess(app)
	o.bindServer(app)
	o.bindScope(app)
	o.bindOperands(app)
	o.bindIdle(app)
	groupUsage(app)
}

func (o *Options) bindProcess(app *kingpin.Application) {
	app.Flag("version", "Print version and build information and exit.").BoolVar(&o.Version)
	app.Flag("short-version", "Print only the version and exit.").BoolVar(&o.ShortVersion)
	app.Flag("log-level", "Lowest level to log: "+strings.Join(logging.Levels, ", ")+".").
		Default("info").StringVar(&o.Log.Level)
	app.Flag("log-format", "Log format: "+strings.Join(logging.Formats, ", ")+".").
		Default("logfmt").StringVar(&o.Log.Format)
	app.Flag("web.listen-address", "host:port to serve metrics, health and profiles on.").
		Default(":8080").StringVar(&o.ListenAddress)
	o.Web.bind(app)
	app.Flag("auto-gomemlimit-ratio", "Fraction of the container's memory limit to set as GOMEMLIMIT, 0 to 1. 0 sets none; the environment variable GOMEMLIMIT takes precedence.").
		Default("0").Float64Var(&o.MemoryRatio)
	app.Flag("workers", "Maximum number of concurrent reconciliations. 0 means the number of CPUs, at least 2.").
		Default("0").IntVar(&o.Workers)
	app.Flag("feature-gates", "Name=true|false, comma-separated, repeatable: "+gateHelp()+".").
		SetValue(&o.FeatureGates)
}

func (o *Options) bindServer(app *kingpin.Application) {
	app.Flag("kubeconfig", "Path to a kubeconfig. Default: the environment variable KUBECONFIG, then the service account of the pod.").
		StringVar(&o.Kubeconfig)
	app.Flag("apiserver", "URL of the API server, used instead of a kubeconfig.").StringVar(&o.APIServer)
	app.Flag("cert-file", "PEM file with the client certificate for --apiserver.").StringVar(&o.CertFile)
	app.Flag("key-file", "PEM file with the key of --cert-file.").StringVar(&o.KeyFile)
	app.Flag("ca-file", "PEM file with the CA of --apiserver.").StringVar(&o.CAFile)
	app.Flag("tls-insecure", "Do not verify the certificate of --apiserver.").BoolVar(&o.TLSInsecure)
	app.Flag("as", "User to impersonate in all API requests.").StringVar(&o.As)
	app.Flag("kube-api-qps", "Maximum average number of API requests per second.").Default("100").Float32Var(&o.QPS)
	app.Flag("kube-api-burst", "Maximum burst of API requests.").Default("200").IntVar(&o.Burst)
}

func (o *Options) bindScope(app *kingpin.Application) {
	app.Flag("namespaces", "Namespaces to watch, comma-separated, repeatable. Default: all.").
		SetValue(csv{&o.Namespaces})
	app.Flag("deny-namespaces", "Namespaces not to watch, comma-separated, repeatable. Cannot be combined with --namespaces.").
		SetValue(csv{&o.DenyNamespaces})
	app.Flag("prometheus-instance-namespaces", "Namespaces to watch for Prometheus and PrometheusAgent objects and what is generated for them. Default: those of --namespaces.").
		SetValue(csv{&o.PrometheusNamespaces})
	app.Flag("prometheus-instance-selector", "Label selector for the Prometheus and PrometheusAgent objects to manage.").StringVar(&o.PrometheusSelector)
	app.Flag("secret-field-selector", "Field selector that restricts the watch on Secrets.").StringVar(&o.SecretFields)
	app.Flag("secret-label-selector", "Label selector that restricts the watch on Secrets.").StringVar(&o.SecretLabels)
	app.Flag("configmap-field-selector", "Field selector that restricts the watch on ConfigMaps.").StringVar(&o.ConfigMapFields)
	app.Flag("configmap-label-selector", "Label selector that restricts the watch on ConfigMaps.").StringVar(&o.ConfigMapLabels)
	app.Flag("watch-referenced-objects-in-all-namespaces", "Also watch Secrets and ConfigMaps in the namespaces of monitors, not only in those of Prometheus and PrometheusAgent objects.").
		BoolVar(&o.WatchReferences)
	app.Flag("controller-id", "Manage only objects whose annotation operator.prometheus.io/controller-id has this value.").
		StringVar(&o.ControllerID)
	app.Flag("manage-crds", "Install the CustomResourceDefinitions at startup. Requires get, create and patch on customresourcedefinitions.").
		BoolVar(&o.ManageCRDs)
}

func (o *Options) bindOperands(app *kingpin.Application) {
	app.Flag("labels", "Labels to add to every generated object: key=value, comma-separated, repeatable.").SetValue(csvMap{&o.Labels})
	app.Flag("annotations", "Annotations to add to every generated object: key=value, comma-separated, repeatable.").SetValue(csvMap{&o.Annotations})
	app.Flag("prometheus-config-reloader", "Image of the config-reloader containers.").
		Default("firekeeper/config-reloader:v" + version.Version).StringVar(&o.ConfigReloaderImage)
	app.Flag("parts-capable-reloaders", "Repositories (image names without tag) of config-reloaders that read a configuration of more than 1 MiB in parts, comma separated and repeatable. firekeeper/config-reloader is known in any registry; name your mirror of it if it has another name.").
		SetValue(csv{&o.PartsReaders})
	const rulesImage = "Image of the rules-reloader container."
	app.Flag("config-reloader-image", rulesImage).Default("firekeeper/rules-reloader:v" + version.Version).StringVar(&o.RulesReloaderImage)
	app.Flag("rules-reloader-image", "Alias of --config-reloader-image.").SetValue(plain{&o.RulesReloaderImage})
	app.Flag("config-reloader-cpu-request", "CPU request of each reloader container. 0 means none.").Default("10m").StringVar(&o.CPURequest)
	app.Flag("config-reloader-cpu-limit", "CPU limit of each reloader container. 0 means none.").Default("10m").StringVar(&o.CPULimit)
	app.Flag("config-reloader-memory-request", "Memory request of each reloader container. 0 means none.").Default("50Mi").StringVar(&o.MemoryRequest)
	app.Flag("config-reloader-memory-limit", "Memory limit of each reloader container. 0 means none.").Default("50Mi").StringVar(&o.MemoryLimit)
	app.Flag("enable-config-reloader-probes", "Add probes to the reloader sidecars.").BoolVar(&o.ReloaderProbes)
	app.Flag("reloader-layout", "Sidecars of each pod: split (config-reloader and rules-reloader) or single (config-reloader for both).").
		Default(string(workload.LayoutSplit)).EnumVar(&o.ReloaderLayout, string(workload.LayoutSplit), string(workload.LayoutSingle))
	app.Flag("prometheus-default-base-image", "Prometheus image without tag, for objects that set none.").
		Default("quay.io/prometheus/prometheus").StringVar(&o.PrometheusBase)
	app.Flag("thanos-default-base-image", "Thanos image without tag, for objects that set none.").
		Default("quay.io/thanos/thanos").StringVar(&o.ThanosBase)
	app.Flag("localhost", "Host name that the containers of a pod use to reach each other.").Default("localhost").StringVar(&o.Localhost)
	app.Flag("cluster-domain", "Cluster domain, appended to service names. Default: none, which relies on the DNS search path of the pods.").StringVar(&o.ClusterDomain)
	app.Flag("disable-unmanaged-prometheus-configuration", "Also generate the configuration of Prometheus objects that set no selector.").
		BoolVar(&o.DisableUnmanaged)
	app.Flag("repair-policy-for-statefulsets", "What to do with a pod that is not ready and blocks a rollout: none, evict or delete.").
		Default(string(rollout.RepairNone)).StringVar(&o.RepairPolicy)
	app.Flag("instant-delivery", "Annotate the pods after a change, so that the kubelet updates their files within about a second instead of one or two minutes (default; --no-instant-delivery disables it).").
		Default("true").BoolVar(&o.InstantDelivery)
	app.Flag("expand-volume-claims", "Expand PersistentVolumeClaims when an object requests more storage (default; --no-expand-volume-claims disables it).").
		Default("true").BoolVar(&o.GrowClaims)
	app.Flag("restart-for-reloader-image", "Replace pods when only the image of their reloaders changed. Without it, they get the new image with the next change that replaces them.").
		BoolVar(&o.RestartForReloaderImage)
}

// Validate checks what the flags mean together. Messages start with the flag.
func (o *Options) Validate() error {
	if _, err := informer.NewNamespaces(o.Namespaces, o.DenyNamespaces); err != nil {
		return fmt.Errorf("--namespaces, --deny-namespaces: %w", err)
	}
	if _, err := informer.NewNamespaces(o.PrometheusNamespaces, nil); err != nil {
		return fmt.Errorf("--prometheus-instance-namespaces: %w", err)
	}
	for flag, text := range map[string]string{
		"prometheus-instance-selector": o.PrometheusSelector,
		"secret-label-selector":        o.SecretLabels,
		"configmap-label-selector":     o.ConfigMapLabels,
	} {
		if _, err := labels.Parse(text); err != nil {
			return fmt.Errorf("--%s=%s: %w", flag, text, err)
		}
	}
	for flag, text := range map[string]string{
		"secret-field-selector": o.SecretFields, "configmap-field-selector": o.ConfigMapFields,
	} {
		if _, err := fields.ParseSelector(text); err != nil {
			return fmt.Errorf("--%s=%s: %w", flag, text, err)
		}
	}
	if err := oneOf(string(rollout.RepairNone), string(rollout.RepairEvict), string(rollout.RepairDelete))(o.RepairPolicy); err != nil {
		return fmt.Errorf("--repair-policy-for-statefulsets=%s: %w", o.RepairPolicy, err)
	}
	for _, text := range o.PartsReaders {
		if err := workload.CheckPartsReader(text); err != nil {
			return fmt.Errorf("--parts-capable-reloaders=%s: %w", text, err)
		}
	}
	if o.Workers < 0 {
		return fmt.Errorf("--workers=%d: must not be negative", o.Workers)
	}
	if o.QPS <= 0 || o.Burst <= 0 {
		return fmt.Errorf("--kube-api-qps=%g, --kube-api-burst=%d: must be positive", o.QPS, o.Burst)
	}
	_, err := o.workload()
	return err
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return max(2, runtime.GOMAXPROCS(0))
}
