package commands

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/logging"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/web"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// Options are the flags of the operator.
type Options struct {
	Version, ShortVersion bool
	Log                   logging.Options
	ListenAddress         string
	Web                   httpserver.TLS
	API                   string // a mode of package web
	WebhookCertificates   string // NAMESPACE/NAME of a Secret; empty disables the management of certificates
	listenSet, tlsSet     bool   // whether the user gave --web.listen-address, --web.enable-tls
	MemoryRatio           float64
	Idle                  []*idle
	told                  io.Writer // where commands report what they wait for; nil for nowhere

	// API server
	Kubeconfig, APIServer         string
	Context                       string // context of the kubeconfig; empty for the current one
	CertFile, KeyFile, CAFile, As string
	TLSInsecure                   bool
	QPS                           float32
	Burst, Workers                int

	// Scope
	Namespaces, DenyNamespaces       []string
	AlertmanagerConfigNamespaces     []string
	Instances                        instances
	SecretFields, SecretLabels       string
	ConfigMapFields, ConfigMapLabels string
	WatchReferences                  bool
	ControllerID                     string
	ManageCRDs                       bool

	// Generated objects
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
	FeatureGates             featureGates
	Kubelet                  kubeletFlags
	Leader                   leaderFlags

	// below returns the options with additional arguments for flags that the command line
	// does not have, and the number of arguments used.
	below func(args []string) (*Options, int, error)
}

// Bind declares the flags and returns their headings in the help.
func (o *Options) Bind(app *kingpin.Application) *headings {
	help := &headings{of: map[string]string{}}
	o.bindProcess(app)
	o.bindWeb(help.under(webFlags, app))
	o.bindServer(help.under(apiServerFlags, app))
	o.bindScope(help.under(scopeFlags, app))
	o.bindOperands(help.under(objectFlags, app))
	o.Leader.bind(help.under(electionFlags, app))
	o.Kubelet.bind(help.under(kubeletHeading, app))
	o.bindIdle(help.under(ignoredFlags, app))
	return help
}

// bindForPeople declares the flags that change the result of a command of the plugin. All
// others keep their defaults.
func (o *Options) bindForPeople(app *kingpin.Application) *headings {
	defaults := kingpin.New("", "")
	o.Bind(defaults)
	if _, err := defaults.Parse(nil); err != nil {
		panic(err) // a default is invalid
	}
	help := &headings{of: map[string]string{}}
	o.bindVersions(app)
	o.bindGates(app)
	server := help.under(apiServerFlags, app)
	o.bindServer(server)
	server.Flag("context", "Context of the kubeconfig. Default: its current one.").StringVar(&o.Context)
	o.bindScope(help.under(scopeFlags, app))
	o.bindOperands(help.under(objectFlags, app))
	for _, name := range []string{"manage-crds", "instant-delivery", "expand-volume-claims", "restart-for-reloader-image", "repair-policy-for-statefulsets"} {
		app.GetFlag(name).Hidden() // settings of the operator, accepted so that its arguments can be passed unchanged
	}
	return help
}

func (o *Options) bindVersions(flags flagSet) {
	flags.Flag("version", "Print version and build information and exit.").BoolVar(&o.Version)
	flags.Flag("short-version", "Print only the version and exit.").BoolVar(&o.ShortVersion)
}

func (o *Options) bindGates(flags flagSet) {
	flags.Flag("feature-gates", "Name=true|false, comma-separated, repeatable: "+gateHelp()+".").
		SetValue(&o.FeatureGates)
}

func (o *Options) bindProcess(flags flagSet) {
	o.bindVersions(flags)
	flags.Flag("log-level", "Lowest level to log: "+strings.Join(logging.Levels, ", ")+".").
		Default("info").StringVar(&o.Log.Level)
	flags.Flag("log-format", "Log format: "+strings.Join(logging.Formats, ", ")+".").
		Default("logfmt").StringVar(&o.Log.Format)
	flags.Flag("auto-gomemlimit-ratio", "Fraction of the container's memory limit to set as GOMEMLIMIT, 0 to 1. 0 sets none; the environment variable GOMEMLIMIT takes precedence.").
		Default("0.8").Float64Var(&o.MemoryRatio)
	flags.Flag("workers", "Maximum number of concurrent reconciliations. 0 means the number of CPUs, at least 2.").
		Default("0").IntVar(&o.Workers)
	o.bindGates(flags)
}

func (o *Options) bindWeb(flags flagSet) {
	flags.Flag("web.listen-address", "host:port to serve metrics, health, profiles and webhooks on. Default of admission-webhook: "+webhookAddress+", of ui: "+uiAddress+".").
		Default(":8080").IsSetByUser(&o.listenSet).StringVar(&o.ListenAddress)
	flags.Flag("web.api", "Who may read the HTTP API: authenticated (anyone who may get the object in the cluster), open (anyone who reaches the port) or off. ui serves this machine only unless it is open.").
		Default(web.Authenticated).EnumVar(&o.API, web.Authenticated, web.Open, web.Off)
	flags.Flag("web.enable-tls", "Serve HTTPS. Default of admission-webhook.").IsSetByUser(&o.tlsSet).BoolVar(&o.Web.Enable)
	flags.Flag("web.enable-http2", "Allow HTTP/2 over TLS.").BoolVar(&o.Web.HTTP2)
	flags.Flag("web.cert-file", "PEM file with the server certificate.").Default("/etc/tls/private/tls.crt").StringVar(&o.Web.CertFile)
	flags.Flag("web.key-file", "PEM file with the key of --web.cert-file.").Default("/etc/tls/private/tls.key").StringVar(&o.Web.KeyFile)
	flags.Flag("web.client-ca-file", "PEM file with the CAs of client certificates. If it exists, clients must present a certificate.").
		Default("/etc/tls/private/tls-ca.crt").StringVar(&o.Web.ClientCAs)
	flags.Flag("web.tls-reload-interval", "How often to reread the certificate files. If one is invalid, the previous certificates stay in use.").
		Default("1m").DurationVar(&o.Web.ReloadInterval)
	flags.Flag("web.tls-min-version", "Minimum TLS version: VersionTLS12 or VersionTLS13. Empty means VersionTLS12.").
		Default("VersionTLS13").StringVar(&o.Web.MinVersion)
	flags.Flag("web.tls-cipher-suites", "TLS 1.2 cipher suites by their Go names, comma-separated, repeatable. Default: those of Go.").
		SetValue(csv{&o.Web.CipherSuites})
	flags.Flag("web.tls-curves", "Elliptic curves, comma-separated, repeatable: "+strings.Join(httpserver.Curves(), ", ")+". Default: those of Go.").
		SetValue(csv{&o.Web.Curves})
	flags.Flag("manage-webhook-certificates", "NAMESPACE/NAME of a Secret in which to create and renew the serving certificate of the webhooks. "+
		"Its CA is written into the webhook configurations of deploy/components and the AlertmanagerConfig CRD. Default: none.").
		StringVar(&o.WebhookCertificates)
}

func (o *Options) bindServer(flags flagSet) {
	flags.Flag("kubeconfig", "Path to a kubeconfig. Default: the environment variable KUBECONFIG, then the service account of the pod.").
		StringVar(&o.Kubeconfig)
	flags.Flag("apiserver", "URL of the API server, used instead of a kubeconfig.").StringVar(&o.APIServer)
	flags.Flag("cert-file", "PEM file with the client certificate for --apiserver.").StringVar(&o.CertFile)
	flags.Flag("key-file", "PEM file with the key of --cert-file.").StringVar(&o.KeyFile)
	flags.Flag("ca-file", "PEM file with the CA of --apiserver.").StringVar(&o.CAFile)
	flags.Flag("tls-insecure", "Do not verify the certificate of --apiserver.").BoolVar(&o.TLSInsecure)
	flags.Flag("as", "User to impersonate in all API requests.").StringVar(&o.As)
	flags.Flag("kube-api-qps", "Maximum average number of API requests per second.").Default("100").Float32Var(&o.QPS)
	flags.Flag("kube-api-burst", "Maximum burst of API requests.").Default("200").IntVar(&o.Burst)
}

func (o *Options) bindScope(flags flagSet) {
	flags.Flag("namespaces", "Namespaces to watch, comma-separated, repeatable. Default: all.").
		SetValue(csv{&o.Namespaces})
	flags.Flag("deny-namespaces", "Namespaces not to watch, comma-separated, repeatable. Cannot be combined with --namespaces.").
		SetValue(csv{&o.DenyNamespaces})
	o.Instances.bind(flags)
	flags.Flag("alertmanager-config-namespaces", "Namespaces to watch for AlertmanagerConfig objects. Default: those of --namespaces.").
		SetValue(csv{&o.AlertmanagerConfigNamespaces})
	flags.Flag("secret-field-selector", "Field selector that restricts the watch on Secrets.").StringVar(&o.SecretFields)
	flags.Flag("secret-label-selector", "Label selector that restricts the watch on Secrets.").StringVar(&o.SecretLabels)
	flags.Flag("configmap-field-selector", "Field selector that restricts the watch on ConfigMaps.").StringVar(&o.ConfigMapFields)
	flags.Flag("configmap-label-selector", "Label selector that restricts the watch on ConfigMaps.").StringVar(&o.ConfigMapLabels)
	flags.Flag("watch-referenced-objects-in-all-namespaces", "Also watch Secrets and ConfigMaps in the namespaces of monitors and AlertmanagerConfigs, not only in those of Prometheus, PrometheusAgent, ThanosRuler and Alertmanager objects.").
		BoolVar(&o.WatchReferences)
	flags.Flag("controller-id", "Manage only objects whose annotation operator.prometheus.io/controller-id has this value.").
		StringVar(&o.ControllerID)
	flags.Flag("manage-crds", "Install the CustomResourceDefinitions at startup. Requires get, create and patch on customresourcedefinitions.").
		BoolVar(&o.ManageCRDs)
}

func (o *Options) bindOperands(flags flagSet) {
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
	flags.Flag("restart-for-reloader-image", "Replace pods when only the image of their reloaders changed. Without it, they get the new image with the next change that replaces them.").
		BoolVar(&o.RestartForReloaderImage)
}

// Validate checks the combination of flags. Errors start with the flag.
func (o *Options) Validate() error {
	if _, err := informer.NewNamespaces(o.Namespaces, o.DenyNamespaces); err != nil {
		return fmt.Errorf("--namespaces, --deny-namespaces: %w", err)
	}
	if err := o.Instances.validate(); err != nil {
		return err
	}
	if _, err := informer.NewNamespaces(o.AlertmanagerConfigNamespaces, nil); err != nil {
		return fmt.Errorf("--alertmanager-config-namespaces: %w", err)
	}
	for flag, text := range map[string]string{
		"secret-label-selector":    o.SecretLabels,
		"configmap-label-selector": o.ConfigMapLabels,
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
	if o.WebhookCertificates != "" {
		if _, err := catalog.FullKey(o.WebhookCertificates); err != nil {
			return fmt.Errorf("--manage-webhook-certificates: %w", err)
		}
	}
	if o.Workers < 0 {
		return fmt.Errorf("--workers=%d: must not be negative", o.Workers)
	}
	if o.QPS <= 0 || o.Burst <= 0 {
		return fmt.Errorf("--kube-api-qps=%g, --kube-api-burst=%d: must be positive", o.QPS, o.Burst)
	}
	if err := errors.Join(o.Kubelet.validate(), o.Leader.validate(), o.validateIdle()); err != nil {
		return err
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
