package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// connection are the flags of the connection to the API server.
type connection struct {
	Kubeconfig, APIServer         string
	Context                       string // context of the kubeconfig; empty for the current one
	CertFile, KeyFile, CAFile, As string
	TLSInsecure                   bool
	QPS                           float32
	Burst                         int

	progress io.Writer // where commands report what they wait for; nil for nowhere
}

func (o *connection) bindServer(flags flagSet) {
	flags.Flag("kubeconfig", "Path to a kubeconfig. Default: the environment variable KUBECONFIG, then the service account of the pod.").
		StringVar(&o.Kubeconfig)
	flags.Flag("context", "Context of the kubeconfig. Default: its current one.").StringVar(&o.Context)
	flags.Flag("apiserver", "URL of the API server, used instead of a kubeconfig.").StringVar(&o.APIServer)
	flags.Flag("cert-file", "PEM file with the client certificate for --apiserver.").StringVar(&o.CertFile)
	flags.Flag("key-file", "PEM file with the key of --cert-file.").StringVar(&o.KeyFile)
	flags.Flag("ca-file", "PEM file with the CA of --apiserver.").StringVar(&o.CAFile)
	flags.Flag("tls-insecure", "Do not verify the certificate of --apiserver.").BoolVar(&o.TLSInsecure)
	flags.Flag("as", "User to impersonate in all API requests.").StringVar(&o.As)
	flags.Flag("kube-api-qps", "Maximum average number of API requests per second.").Default("100").Float32Var(&o.QPS)
	flags.Flag("kube-api-burst", "Maximum burst of API requests.").Default("200").IntVar(&o.Burst)
}

func (o *connection) validateServer() error {
	if o.QPS <= 0 || o.Burst <= 0 {
		return fmt.Errorf("--kube-api-qps=%g, --kube-api-burst=%d: must be positive", o.QPS, o.Burst)
	}
	return nil
}

// restConfig returns the configuration of clients.
//
// Errors: the kubeconfig or the credentials of the pod cannot be loaded.
func (o *connection) restConfig() (*rest.Config, error) {
	var (
		cfg *rest.Config
		err error
	)
	switch config := o.kubeconfig(); {
	case config != nil:
		cfg, err = config.ClientConfig()
	case o.Context != "":
		return nil, fmt.Errorf("--context=%s: there is no kubeconfig", o.Context)
	case o.APIServer != "":
		cfg = &rest.Config{Host: o.APIServer}
		if strings.HasPrefix(o.APIServer, "https://") {
			cfg.TLSClientConfig = rest.TLSClientConfig{
				CertFile: o.CertFile, KeyFile: o.KeyFile, CAFile: o.CAFile, Insecure: o.TLSInsecure,
			}
		}
	default:
		cfg, err = rest.InClusterConfig()
	}
	if clientcmd.IsEmptyConfig(err) {
		err = errors.New("the kubeconfig does not exist, is empty, or has no current context: see kubectl config get-contexts")
	}
	switch {
	case err == nil:
	case o.Kubeconfig != "":
		return nil, fmt.Errorf("--kubeconfig=%s: %w", o.Kubeconfig, withoutPath(err))
	case o.kubeconfig() != nil:
		return nil, fmt.Errorf("KUBECONFIG=%s: %w", os.Getenv("KUBECONFIG"), err)
	default:
		return nil, fmt.Errorf("load the API server's address and credentials: %w", err)
	}
	cfg.QPS, cfg.Burst = o.QPS, o.Burst
	cfg.DisableCompression = true // the network to the API server is fast, and large payloads are already compressed
	cfg.UserAgent = "PrometheusOperator/" + version.Version
	cfg.Impersonate = rest.ImpersonationConfig{UserName: o.As}
	cfg.Wrap(client.Impatient)
	cfg.Wrap(client.Bounded)
	return cfg, nil
}

// withoutPath returns the error of a file without its path.
func withoutPath(err error) error {
	if p, is := errors.AsType[*fs.PathError](err); is {
		return p.Err
	}
	return err
}

// kubeconfig returns the kubeconfig of the flags or the environment, or nil if there is
// none.
func (o *connection) kubeconfig() clientcmd.ClientConfig {
	if o.Kubeconfig == "" && (o.APIServer != "" || os.Getenv("KUBECONFIG") == "") {
		return nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	rules.MigrationRules = nil // they access the home folder, which may not be a folder
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
}

// person returns the connection of a command that a user runs: outside of a cluster, the
// kubeconfig defaults to that of kubectl if it exists.
func (o *connection) person() *connection {
	if o.kubeconfig() != nil || o.APIServer != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return o
	}
	if _, missing := os.Stat(clientcmd.RecommendedHomeFile); missing != nil {
		return o
	}
	out := *o
	out.Kubeconfig = clientcmd.RecommendedHomeFile
	return &out
}

// connect connects to the cluster of the user for large lists, and returns the version of its API server.
func (o *connection) connect(ctx context.Context) (live apiserver.Reader, version string, err error) {
	cfg, err := o.personConfig()
	if err == nil {
		live, version, err = readerOf(ctx, client.Bulk(cfg))
	}
	if errors.Is(err, rest.ErrNotInCluster) {
		err = fmt.Errorf("%w; use -f to read manifests instead", err)
	}
	return live, version, err
}

// reach is like connect, for a command that only reads clusters.
func (o *connection) reach(ctx context.Context) (live apiserver.Reader, cfg *rest.Config, version string, err error) {
	if cfg, err = o.personConfig(); err == nil {
		live, version, err = readerOf(ctx, cfg)
	}
	return live, cfg, version, err
}

// readerOf returns a reader of a cluster, and the version of its API server.
func readerOf(ctx context.Context, cfg *rest.Config) (live apiserver.Reader, version string, err error) {
	cfg.WarningHandler = rest.NoWarnings{} // warnings are about objects that Prometheus reads, such as Endpoints
	if live.Kube, err = kubernetes.NewForConfig(compact(cfg)); err != nil {
		return live, "", err
	}
	version, err = serverVersion(ctx, live.Kube)
	if err != nil {
		return live, "", fmt.Errorf("reach the API server at %s: %w", cfg.Host, err)
	}
	_, live.CRDs, err = kindClients(cfg, client.New)
	return live, version, err
}

// servers returns access to the servers of workloads, for a command that a user runs.
func (o *connection) servers() (preview.Servers, error) {
	cfg, err := o.personConfig()
	if err != nil {
		return preview.Servers{}, err
	}
	cfg.WarningHandler = rest.NoWarnings{}
	kube, err := promapi.Client(compact(cfg))
	return preview.Servers{Cluster: promapi.Cluster{Kube: kube}}, err
}

// personConfig is like restConfig, for a command that a user runs.
func (o *connection) personConfig() (*rest.Config, error) {
	cfg, err := o.person().restConfig()
	if err == nil && o.progress != nil {
		cfg.Wrap(telling(o.progress))
	}
	if errors.Is(err, rest.ErrNotInCluster) {
		err = fmt.Errorf("find the API server: no --kubeconfig, no environment variable KUBECONFIG and no %s: %w", clientcmd.RecommendedHomeFile, err)
	}
	return cfg, err
}

// contextName returns the name of the kubeconfig's context, or "" if there is none.
func (o *connection) contextName() string {
	config := o.person().kubeconfig()
	if config == nil {
		return ""
	}
	raw, err := config.RawConfig()
	if err != nil {
		return ""
	}
	return cmp.Or(o.Context, raw.CurrentContext)
}
