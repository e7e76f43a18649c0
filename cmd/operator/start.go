package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/Masterminds/semver/v3"
	promclient "github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/logging"
	"github.com/firekeeper-dev/firekeeper/internal/reload/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/server"
)

// start runs the operator until the context ends.
func (o *Options) start(ctx context.Context, stdout io.Writer) error {
	o.Log.Format = strings.ToLower(o.Log.Format)
	log, err := logging.New(stdout, o.Log)
	if err != nil {
		return fmt.Errorf("--log-level=%s --log-format=%s: %w", o.Log.Level, o.Log.Format, err)
	}
	klog.SetSlogLogger(log)
	log.Info("starting operator", "version", version.Info(), "build_context", version.Context(), "feature_gates", o.FeatureGates.State())

	reg := server.Registry()
	server.WatchClient(reg)
	exposeGates(reg, o.FeatureGates)
	o.warnIdle(log)
	footprint.Limit(o.MemoryRatio, log)
	serverTLS, err := o.Web.config(log)
	if err != nil {
		return err
	}
	srv, err := httpserver.Listen(httpserver.Options{Address: o.ListenAddress, Handler: server.Handler(reg), TLS: serverTLS, Logger: log})
	if err != nil {
		return fmt.Errorf("--web.listen-address=%s: %w", o.ListenAddress, err)
	}
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return srv.Serve(running) })
	g.Go(func() error { return o.control(running, log, reg) })
	err = g.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // told to stop in the middle of starting
	}
	log.Info("stopped")
	return err
}

// control connects to the cluster and runs the controllers.
func (o *Options) control(ctx context.Context, log *slog.Logger, reg promclient.Registerer) error {
	cfg, err := o.restConfig()
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(compact(cfg))
	if err != nil {
		return err
	}
	info, err := kube.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("connect to the API server at %s: %w", cfg.Host, err)
	}
	kubernetesVersion, err := parseKubernetes(info.GitVersion)
	if err != nil {
		kubernetesVersion = semver.MustParse("1.16.0")
		log.Warn("cannot parse the version of the API server, assuming an old one", "err", err, "assumed", kubernetesVersion.String())
	}
	log.Info("connected", "kubernetes_version", info.GitVersion, "host", cfg.Host)
	if o.ManageCRDs {
		if err := o.manageCRDs(ctx, cfg, log); err != nil {
			return err
		}
	}
	opts, err := o.prometheus(kubernetesVersion)
	if err != nil {
		return err
	}
	log.Info("watching", "instances", opts.Scopes.Instances.String(), "configs", opts.Scopes.Configs.String(), "references", opts.Scopes.References.String())
	missing, err := lacking(ctx, kube, o.optionals(opts.Scopes), opts.Scopes, log)
	if err != nil {
		return err
	}
	opts.StorageClasses = !missing.has(getStorageClasses)
	clients, err := o.clients(ctx, cfg, kube, !missing.has(sendEvents))
	if err != nil {
		return err
	}
	clients.Claims = o.GrowClaims && !missing.has(growClaims)
	clients.Reads = informer.NewReads(log)
	return o.controllers(ctx, opts, clients, missing, log, reg)
}

func (o *Options) restConfig() (*rest.Config, error) {
	var (
		cfg *rest.Config
		err error
	)
	switch {
	case o.Kubeconfig != "" || (o.APIServer == "" && os.Getenv("KUBECONFIG") != ""):
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = o.Kubeconfig
		rules.MigrationRules = nil // they look into the home folder, which may not be one
		cfg, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
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
	if err != nil {
		return nil, fmt.Errorf("load the API server's address and credentials: %w", err)
	}
	cfg.QPS, cfg.Burst = o.QPS, o.Burst
	cfg.DisableCompression = true // the API server is near; large payloads are compressed anyway
	cfg.UserAgent = "PrometheusOperator/" + version.Version
	cfg.Impersonate = rest.ImpersonationConfig{UserName: o.As}
	return cfg, nil
}

// compact is a configuration for the kinds of Kubernetes itself. In protobuf a
// large Secret or ConfigMap costs both sides a fraction of what it does in JSON.
func compact(cfg *rest.Config) *rest.Config {
	out := rest.CopyConfig(cfg)
	out.ContentType = runtime.ContentTypeProtobuf
	out.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return out
}

// kindClients reach the kinds of monitoring.coreos.com.
func kindClients(cfg *rest.Config) (scheme *runtime.Scheme, stable, alpha *client.Client, err error) {
	scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, v1alpha1.AddToScheme, corev1.AddToScheme, eventsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, nil, nil, err
		}
	}
	if stable, err = client.New(cfg, scheme, v1.SchemeGroupVersion); err == nil {
		alpha, err = client.New(cfg, scheme, v1alpha1.SchemeGroupVersion)
	}
	return scheme, stable, alpha, err
}

func (o *Options) clients(ctx context.Context, cfg *rest.Config, kube kubernetes.Interface, sendEvents bool) (prometheus.Clients, error) {
	scheme, stable, alpha, err := kindClients(cfg)
	if err != nil {
		return prometheus.Clients{}, err
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return prometheus.Clients{}, err
	}
	out := prometheus.Clients{Kube: kube, Metadata: meta, V1: stable, V1alpha1: alpha}
	if !sendEvents {
		return out, nil
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kube.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return out, fmt.Errorf("record events: %w", err)
	}
	out.Events = func(component string) events.EventRecorder { return broadcaster.NewRecorder(scheme, component) }
	return out, nil
}

// exposeGates shows the feature gates as metrics.
func exposeGates(reg promclient.Registerer, gates featureGates) {
	v := promclient.NewGaugeVec(promclient.GaugeOpts{
		Name: "prometheus_operator_feature_gate", Help: "1 if the feature gate is enabled, else 0.",
	}, []string{"name"})
	reg.MustRegister(v)
	for name := range gateDefaults {
		value := 0.0
		if gates.On(name) {
			value = 1
		}
		v.WithLabelValues(name).Set(value)
	}
}
