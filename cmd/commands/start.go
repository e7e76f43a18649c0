package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	promclient "github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/logging"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/eventqueue"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
	"github.com/firekeeper-dev/firekeeper/operator/web"
	"github.com/firekeeper-dev/firekeeper/operator/web/server"
	"github.com/firekeeper-dev/firekeeper/operator/webhook/admission"
)

// start runs the operator until the context ends.
func (o *Options) start(ctx context.Context, stdout io.Writer) error {
	log, err := o.logger(stdout)
	if err != nil {
		return err
	}
	log.Info("starting operator", "version", version.Info(), "build_context", version.Context(), "feature_gates", o.FeatureGates.State())

	reg := server.Registry("prometheus_operator")
	server.WatchClient(reg)
	exposeGates(reg, o.FeatureGates)
	if err := o.expectControllers(reg); err != nil {
		return err
	}
	o.warnIdle(log)
	footprint.Start(ctx)
	footprint.Container(o.MemoryRatio, log)
	ready := &readiness{}
	kinds, err := objectKinds()
	if err != nil {
		return err
	}
	webhooks := admission.New(admission.Options{Kinds: kinds, Logger: log})
	api := web.New(web.Options{Mode: o.API, Logger: log, Metrics: reg})
	srv, err := o.listen(server.Handler(reg, ready.ok, webhooks, api), log)
	if err != nil {
		return err
	}
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return srv.Serve(running) })
	g.Go(func() error { return o.control(running, log, reg, ready, api) })
	err = g.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // stopped during startup
	}
	log.Info("stopped")
	return err
}

// expectControllers exposes that no controller is ready, before it is known which of them can start.
//
// Errors: those of kinds.
func (o *Options) expectControllers(reg promclient.Registerer) error {
	kinds, err := o.kinds(semver.MustParse(newestKubernetes))
	if err != nil {
		return err
	}
	for _, k := range kinds {
		engine.Expect(reg, k.Label)
	}
	return nil
}

// logger returns the logger according to the flags.
func (o *Options) logger(stdout io.Writer) (*slog.Logger, error) {
	o.Log.Format = strings.ToLower(o.Log.Format)
	log, err := logging.New(stdout, o.Log)
	if err != nil {
		return nil, err
	}
	klog.SetSlogLogger(log)
	return log, nil
}

// listen creates the web server and binds its address.
func (o *Options) listen(handler http.Handler, log *slog.Logger) (*httpserver.Server, error) {
	serverTLS, err := o.Web.Config(log)
	if err != nil {
		return nil, err
	}
	srv, err := httpserver.Listen(httpserver.Options{Address: o.ListenAddress, Handler: handler, TLS: serverTLS, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("--web.listen-address=%s: %w", o.ListenAddress, err)
	}
	return srv, nil
}

// control connects to the cluster and runs the controllers.
func (o *Options) control(ctx context.Context, log *slog.Logger, reg promclient.Registerer, ready *readiness, api *web.Handler) error {
	cfg, err := o.restConfig()
	if err != nil {
		return err
	}
	cfg.WarningHandler = &apiWarnings{log: log}
	if err := api.Connect(cfg); err != nil {
		return err
	}
	leader, err := o.Leader.leader(ctx, cfg, log)
	if err != nil {
		return err
	}
	leader.Register(reg)
	plain := rest.CopyConfig(cfg)
	missing := startup.NewMissing(log)
	reg.MustRegister(missing)
	cfg.Wrap(missing.Watch)
	kube, err := kubernetes.NewForConfig(compact(cfg))
	if err != nil {
		return err
	}
	live, err := awaitVersion(ctx, kube, cfg.Host, log)
	if err != nil {
		return err
	}
	kubernetesVersion, err := parseKubernetes(live)
	if err != nil {
		kubernetesVersion = semver.MustParse("1.16.0")
		log.Warn("cannot parse the version of the API server, assuming an old one", "err", err, "assumed", kubernetesVersion.String())
	}
	log.Info("connected", "kubernetes_version", live, "host", cfg.Host)
	return o.lead(ctx, leader, cfg, log, func(ctx context.Context) error {
		return o.reconcile(ctx, cfg, kube, kubernetesVersion, process{leader: leader, missing: missing, ready: ready, log: log, reg: reg, api: api, plain: plain})
	})
}

// awaitVersion waits until the API server responds, and returns its version.
//
// Errors: those of [startup.Insist].
func awaitVersion(ctx context.Context, kube kubernetes.Interface, host string, log *slog.Logger) (string, error) {
	waiting := time.AfterFunc(patience, func() { log.Info("waiting for the API server", "host", host) })
	defer waiting.Stop()
	version, err := startup.Insist(ctx, &startup.Patience{Log: log.With("host", host)}, func() (string, error) { return serverVersion(ctx, kube) })
	if err != nil {
		return "", fmt.Errorf("connect to the API server at %s: %w", host, err)
	}
	return version, nil
}

// reconcile checks the permissions in the cluster, and runs the controllers.
func (o *Options) reconcile(ctx context.Context, cfg *rest.Config, kube kubernetes.Interface, version *semver.Version, p process) error {
	setups, scopes, err := o.setups(version)
	if err != nil {
		return err
	}
	p.log.Info("watching", "instances", scopes.Instances.String(), "configs", scopes.Configs.String())
	p.starter = startup.New(kube, startup.Scopes{Instances: scopes.Instances, Configs: scopes.Configs, References: referred(setups)}, p.log, p.missing)
	if err := p.starter.CheckOptional(ctx, o.optionals()); err != nil {
		return err
	}
	clients, err := o.clients(ctx, cfg, kube, !p.starter.Lacks(startup.SendEvents))
	if err != nil {
		return err
	}
	if p.known, err = o.apiReader(p.plain, version, scopes, p); err != nil {
		return err
	}
	defer p.known.close()
	clients.Events = p.known.events(clients.Events)
	clients.Claims = o.GrowClaims && !p.starter.Lacks(startup.ExpandClaims)
	clients.Reads = informer.NewReads(p.log)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return o.controllers(ctx, setups, scopes, clients, p) })
	if o.WebhookCertificates != "" {
		g.Go(func() error { return o.webhookCertificates(ctx, cfg, p) })
	}
	return g.Wait()
}

// referred returns the namespaces in which changes of Secrets and ConfigMaps are
// relevant.
func referred(setups []engine.Setup) informer.Namespaces {
	out := setups[0].References
	for _, s := range setups[1:] {
		out = out.Union(s.References)
	}
	return out
}

// compact returns a configuration for built-in kinds. With protobuf, large Secrets and
// ConfigMaps cost client and server a fraction of the time and memory of JSON.
func compact(cfg *rest.Config) *rest.Config {
	out := rest.CopyConfig(cfg)
	out.ContentType = runtime.ContentTypeProtobuf
	out.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return out
}

// kindClients returns a scheme and clients for the versions of monitoring.coreos.com, which create makes.
func kindClients(cfg *rest.Config, create func(*rest.Config, *runtime.Scheme, schema.GroupVersion) (*client.Client, error)) (*runtime.Scheme, map[schema.GroupVersion]*client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range append(slices.Collect(maps.Values(catalog.Versions)), corev1.AddToScheme, eventsv1.AddToScheme) {
		if err := add(scheme); err != nil {
			return nil, nil, err
		}
	}
	out := map[schema.GroupVersion]*client.Client{}
	for version := range catalog.Versions {
		c, err := create(cfg, scheme, version)
		if err != nil {
			return nil, nil, err
		}
		out[version] = c
	}
	return scheme, out, nil
}

func (o *Options) clients(ctx context.Context, cfg *rest.Config, kube kubernetes.Interface, sendEvents bool) (engine.Clients, error) {
	scheme, crds, err := kindClients(cfg, client.NewPacking)
	if err != nil {
		return engine.Clients{}, err
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return engine.Clients{}, err
	}
	content, err := client.NewContent(compact(cfg), apply.DigestValue)
	if err != nil {
		return engine.Clients{}, err
	}
	out := engine.Clients{Kube: kube, Metadata: meta, Content: content, CRDs: crds}
	if !sendEvents {
		return out, nil
	}
	out.Events, err = recorders(ctx, cfg, scheme)
	return out, err
}

// recorders returns the recorders of components. They have a client of their own, so that Events do
// not delay other requests.
func recorders(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme) (func(component string) events.EventRecorder, error) {
	own := share(cfg, 5)
	kube, err := kubernetes.NewForConfig(compact(own))
	if err != nil {
		return nil, err
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kube.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return nil, fmt.Errorf("record events: %w", err)
	}
	waiting := eventqueue.New(scheme, own.QPS)
	go waiting.Run(ctx)
	return func(component string) events.EventRecorder {
		return waiting.Recorder(broadcaster.NewRecorder(scheme, component))
	}, nil
}
