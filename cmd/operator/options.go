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
	"github.com/firekeeper-dev/firekeeper/operator/controller"
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
	app.Flag("version", "Print version and build and exit.").BoolVar(&o.Version)
	app.Flag("short-version", "Print only the version and exit.").BoolVar(&o.ShortVersion)
	app.Flag("log-level", "Least severe records to log: "+strings.Join(logging.Levels, ", ")+".").
		Default("info").StringVar(&o.Log.Level)
	app.Flag("log-format", "Form of a record: "+strings.Join(logging.Formats, ", ")+".").
		Default("logfmt").StringVar(&o.Log.Format)
	app.Flag("web.listen-address", "host:port of the server for metrics, health and profiles.").
		Default(":8080").StringVar(&o.ListenAddress)
	o.Web.bind(app)
	app.Flag("auto-gomemlimit-ratio", "Part of the container's memory that Go may use before it collects harder, 0 to 1. 0 sets no limit; GOMEMLIMIT in the environment wins.").
		Default("0").Float64Var(&o.MemoryRatio)
	app.Flag("workers", "Passes over owners that may run at the same time. 0 means the number of CPUs, at least 2.").
		Default("0").IntVar(&o.Workers)
	app.Flag("feature-gates", "Name=true|false, comma separated and repeatable: "+gateHelp()+".").
		SetValue(&o.FeatureGates)
}

func (o *Options) bindServer(app *kingpin.Application) {
	app.Flag("kubeconfig", "Path of a kubeconfig. Empty means the environment variable KUBECONFIG, then the service account of the pod.").
		StringVar(&o.Kubeconfig)
	app.Flag("apiserver", "URL of the API server, instead of a kubeconfig.").StringVar(&o.APIServer)
	app.Flag("cert-file", "Client certificate for --apiserver, PEM.").StringVar(&o.CertFile)
	app.Flag("key-file", "Key of --cert-file, PEM.").StringVar(&o.KeyFile)
	app.Flag("ca-file", "CA that signed the certificate of --apiserver, PEM.").StringVar(&o.CAFile)
	app.Flag("tls-insecure", "Do not verify the certificate of --apiserver.").BoolVar(&o.TLSInsecure)
	app.Flag("as", "User to impersonate in all calls.").StringVar(&o.As)
	app.Flag("kube-api-qps", "Calls per second to the API server, on average.").Default("100").Float32Var(&o.QPS)
	app.Flag("kube-api-burst", "Calls to the API server that may go at once.").Default("200").IntVar(&o.Burst)
}

func (o *Options) bindScope(app *kingpin.Application) {
	app.Flag("namespaces", "Namespaces to watch, comma separated and repeatable. None means all.").
		SetValue(csv{&o.Namespaces})
	app.Flag("deny-namespaces", "Namespaces not to watch, comma separated and repeatable. Excludes --namespaces.").
		SetValue(csv{&o.DenyNamespaces})
	app.Flag("prometheus-instance-namespaces", "Namespaces to watch for Prometheus and PrometheusAgent objects and what they own. None means those of --namespaces.").
		SetValue(csv{&o.PrometheusNamespaces})
	app.Flag("prometheus-instance-selector", "Label selector of the Prometheus and PrometheusAgent objects to look after.").StringVar(&o.PrometheusSelector)
	app.Flag("secret-field-selector", "Field selector that narrows the watch on Secrets.").StringVar(&o.SecretFields)
	app.Flag("secret-label-selector", "Label selector that narrows the watch on Secrets.").StringVar(&o.SecretLabels)
	app.Flag("configmap-field-selector", "Field selector that narrows the watch on ConfigMaps.").StringVar(&o.ConfigMapFields)
	app.Flag("configmap-label-selector", "Label selector that narrows the watch on ConfigMaps.").StringVar(&o.ConfigMapLabels)
	app.Flag("watch-referenced-objects-in-all-namespaces", "Watch Secrets and ConfigMaps in the namespaces of monitors too, not only in those of Prometheus and PrometheusAgent objects.").
		BoolVar(&o.WatchReferences)
	app.Flag("controller-id", "Look only after objects whose annotation operator.prometheus.io/controller-id has this value.").
		StringVar(&o.ControllerID)
	app.Flag("manage-crds", "Install the CustomResourceDefinitions at start. Needs get, create and patch on customresourcedefinitions.").
		BoolVar(&o.ManageCRDs)
}

func (o *Options) bindOperands(app *kingpin.Application) {
	app.Flag("labels", "Labels for every generated object: key=value, comma separated and repeatable.").SetValue(csvMap{&o.Labels})
	app.Flag("annotations", "Annotations for every generated object: key=value, comma separated and repeatable.").SetValue(csvMap{&o.Annotations})
	app.Flag("prometheus-config-reloader", "Image of the config-reloader containers.").
		Default("firekeeper/config-reloader:v" + version.Version).StringVar(&o.ConfigReloaderImage)
	const rulesImage = "Image of the rules-reloader container."
	app.Flag("config-reloader-image", rulesImage).Default("firekeeper/rules-reloader:v" + version.Version).StringVar(&o.RulesReloaderImage)
	app.Flag("rules-reloader-image", "The same as --config-reloader-image.").SetValue(plain{&o.RulesReloaderImage})
	app.Flag("config-reloader-cpu-request", "CPU request of each reloader container. 0 means none.").Default("10m").StringVar(&o.CPURequest)
	app.Flag("config-reloader-cpu-limit", "CPU limit of each reloader container. 0 means none.").Default("10m").StringVar(&o.CPULimit)
	app.Flag("config-reloader-memory-request", "Memory request of each reloader container. 0 means none.").Default("50Mi").StringVar(&o.MemoryRequest)
	app.Flag("config-reloader-memory-limit", "Memory limit of each reloader container. 0 means none.").Default("50Mi").StringVar(&o.MemoryLimit)
	app.Flag("enable-config-reloader-probes", "Give the reloader sidecars probes.").BoolVar(&o.ReloaderProbes)
	app.Flag("reloader-layout", "split: config-reloader and rules-reloader; single: config-reloader for both.").
		Default(string(workload.LayoutSplit)).EnumVar(&o.ReloaderLayout, string(workload.LayoutSplit), string(workload.LayoutSingle))
	app.Flag("prometheus-default-base-image", "Image of Prometheus without tag, for objects that name none.").
		Default("quay.io/prometheus/prometheus").StringVar(&o.PrometheusBase)
	app.Flag("thanos-default-base-image", "Image of Thanos without tag, for objects that name none.").
		Default("quay.io/thanos/thanos").StringVar(&o.ThanosBase)
	app.Flag("localhost", "Host name under which containers of one pod reach each other.").Default("localhost").StringVar(&o.Localhost)
	app.Flag("cluster-domain", "Domain of the cluster; empty relies on the pods' DNS search path.").StringVar(&o.ClusterDomain)
	app.Flag("disable-unmanaged-prometheus-configuration", "Generate the configuration also of Prometheus objects that set no selector.").
		BoolVar(&o.DisableUnmanaged)
	app.Flag("repair-policy-for-statefulsets", "What to do with a pod that is not ready and keeps a rollout from going on: none, evict or delete.").
		Default(string(rollout.RepairNone)).StringVar(&o.RepairPolicy)
	app.Flag("instant-delivery", "Patch an annotation of the pods after a change, so that they get it in about a second and not in one or two minutes (the default; --no-instant-delivery turns it off).").
		Default("true").BoolVar(&o.InstantDelivery)
	app.Flag("expand-volume-claims", "Let PersistentVolumeClaims grow when an object asks for more storage (the default; --no-expand-volume-claims turns it off).").
		Default("true").BoolVar(&o.GrowClaims)
	app.Flag("restart-for-reloader-image", "Replace pods when nothing but the image of their reloaders changed. Without it they get the new image with the next change that replaces them anyway.").
		BoolVar(&o.RestartForReloaderImage)
}

// Validate checks what the flags mean together. Messages start with the flag.
func (o *Options) Validate() error {
	if _, err := controller.NewNamespaces(o.Namespaces, o.DenyNamespaces); err != nil {
		return fmt.Errorf("--namespaces, --deny-namespaces: %w", err)
	}
	if _, err := controller.NewNamespaces(o.PrometheusNamespaces, nil); err != nil {
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
