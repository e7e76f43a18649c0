package commands

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
	"github.com/firekeeper-dev/firekeeper/operator/readers/memo"
	"github.com/firekeeper-dev/firekeeper/operator/targets/autoscale"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web"
	"github.com/firekeeper-dev/firekeeper/operator/web/central"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
	"github.com/firekeeper-dev/firekeeper/operator/web/server"
	"github.com/firekeeper-dev/firekeeper/operator/webhook/certs"
)

const discoveryHelp = "Discover the targets of the Prometheuses and PrometheusAgents with the annotation firekeeper.dev/target-discovery: both or central, once for all of their pods, " +
	"and serve them to the pods. Takes the flags of the operator that decide what it manages: give it the same values. With several replicas, add --leader-elect."

var discoveryExample = []string{"discovery --leader-elect # in a pod, see deploy/components/central-discovery"}

// discoveryName is the default name of the Service and the Lease of the command discovery.
const discoveryName = "firekeeper-discovery"

// discoveryOptions are the flags of the command discovery.
type discoveryOptions struct {
	address, service  string
	certFile, keyFile string
	speed             int
}

func (d *discoveryOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Flag("targets-listen-address", "host:port to serve targets to pods on, with TLS.").Default(":8443").StringVar(&d.address)
	cmd.Flag("service-name", "Service through which pods reach this command, in its own namespace. The certificate is in the Secret NAME-certificate, its CA in the ConfigMap NAME-ca; both are created and renewed. How many shards workloads should have is in the ConfigMap NAME-shards.").
		Default(discoveryName).StringVar(&d.service)
	cmd.Flag("targets-cert-file", "PEM file with the certificate to serve targets with, for NAME.NAMESPACE.svc. Reread like --web.cert-file. Then neither the Secret nor the ConfigMap NAME-ca of --service-name is used.").StringVar(&d.certFile)
	cmd.Flag("targets-key-file", "PEM file with the key of --targets-cert-file.").StringVar(&d.keyFile)
	cmd.Flag("autoscaling-speed", fmt.Sprintf("How many times faster than usual the number of shards follows the series, from 1 to %d: with 4, the times after which shards are added and removed and the half-life of counts of series are a quarter. How long a shard is drained before it is removed does not change.", autoscale.MaxSpeed)).
		Default("1").IntVar(&d.speed)
}

// validate returns an error for the first invalid flag.
func (d *discoveryOptions) validate() error {
	if wrong := validation.IsDNS1035Label(d.service); len(wrong) > 0 {
		return fmt.Errorf("--service-name=%s: %s", d.service, wrong[0])
	}
	if d.speed < 1 || d.speed > autoscale.MaxSpeed {
		return fmt.Errorf("--autoscaling-speed=%d: it is from 1 to %d", d.speed, autoscale.MaxSpeed)
	}
	if (d.certFile == "") != (d.keyFile == "") {
		return errors.New("--targets-cert-file, --targets-key-file: both are needed, or none")
	}
	return nil
}

// run serves until the context ends.
func (d *discoveryOptions) run(ctx context.Context, o *Options, stdout io.Writer) error {
	log, err := o.logger(stdout)
	if err != nil {
		return err
	}
	log.Info("starting central discovery", "version", version.Info(), "build_context", version.Context())
	footprint.Container(o.MemoryRatio, log)
	go footprint.Follow(ctx)
	namespace := o.Leader.Namespace
	if namespace == "" {
		if namespace, err = podNamespace(); err != nil {
			return fmt.Errorf("--leader-elect-namespace: required outside of a pod, for the Secret of the certificate: %w", err)
		}
	}
	cfg, err := o.restConfig()
	if err != nil {
		return err
	}
	cfg.WarningHandler = rest.NoWarnings{} // warnings are about Endpoints, which are read on behalf of workloads
	plain := rest.CopyConfig(cfg)          // only the leader may write with cfg, and access reviews are not writes
	election := o.Leader
	if election.Lease == program { // the default is the Lease of the operator
		election.Lease = d.service
	}
	leader, err := election.leader(ctx, cfg, log)
	if err != nil {
		return err
	}
	err = leader.While(ctx, func(ctx context.Context) error {
		p, err := d.connect(ctx, o, plain, log)
		if err != nil {
			return err
		}
		if err := d.identify(p, o, cfg, namespace); err != nil {
			return err
		}
		if err := d.store(p, cfg, namespace); err != nil {
			return err
		}
		return p.serve(ctx, o, d, leader)
	})
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // stopped during startup
	}
	log.Info("stopped")
	return err
}

// discoveryService is the running command discovery.
type discoveryService struct {
	log    *slog.Logger
	cfg    *rest.Config
	kube   kubernetes.Interface
	source *livetargets.Source
	runner *central.Runner
	server *feed.Server

	tls         *tls.Config
	certificate *certs.Server // nil with files
}

// connect connects to the cluster.
func (d *discoveryOptions) connect(ctx context.Context, o *Options, cfg *rest.Config, log *slog.Logger) (*discoveryService, error) {
	clients, err := newDiscoveryClients(cfg)
	if err != nil {
		return nil, err
	}
	out := &discoveryService{log: log, cfg: cfg, kube: clients.kube}
	scheme, crds, err := kindClients(cfg, client.New)
	if err != nil {
		return nil, err
	}
	if out.source, err = o.followed(ctx, clients, cfg, crds, log); err != nil {
		return nil, err
	}
	lists := feed.New()
	identity, err := central.Identity(clients.pods, lists)
	if err != nil {
		return nil, err
	}
	out.runner = central.New(out.source, lists, inflight.Memory()/8, log)
	if out.runner.Events, err = recorder(ctx, clients.pods, scheme); err != nil {
		return nil, err
	}
	out.server = &feed.Server{Feed: lists, Identity: identity, Log: log, Listener: out.runner}
	out.runner.Streams, out.runner.Replicas = out.server, central.Watch(ctx, central.PodsOf(clients.pods))
	out.runner.Units = targetset.NewBudget(inflight.Memory() / 16)
	return out, nil
}

// discoveryClients are clients with separate rate limits: requests about pods and about accounts must not delay each other
// or the lists of objects.
type discoveryClients struct {
	kube, pods, accounts kubernetes.Interface
}

func newDiscoveryClients(cfg *rest.Config) (out discoveryClients, err error) {
	if out.kube, err = kubernetes.NewForConfig(compact(share(cfg, 2))); err != nil {
		return out, err
	}
	if out.pods, err = kubernetes.NewForConfig(compact(share(cfg, 4))); err != nil {
		return out, err
	}
	out.accounts, err = kubernetes.NewForConfig(compact(share(cfg, 4)))
	return out, err
}

// followed returns the source of the targets of all workloads, once the API server responds.
func (o *Options) followed(ctx context.Context, clients discoveryClients, cfg *rest.Config, crds map[schema.GroupVersion]*client.Client, log *slog.Logger) (*livetargets.Source, error) {
	live, err := awaitVersion(ctx, clients.kube, cfg.Host, log)
	if err != nil {
		return nil, err
	}
	release, err := parseKubernetes(live)
	if err != nil {
		return nil, err
	}
	setups, scopes, err := o.setups(release)
	if err != nil {
		return nil, err
	}
	options, err := o.prometheus(release)
	if err != nil {
		return nil, err
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(clients.kube, share(cfg, 2), scopes)
	if err != nil {
		return nil, err
	}
	log.Info("watching", "instances", scopes.Instances.String(), "configs", scopes.Configs.String())
	return &livetargets.Source{
		Reader: memo.New(ctx, apiserver.Reader{Kube: clients.kube, CRDs: crds}, memo.Metadata(meta)), Setups: setups, Scopes: scopes, Options: options,
		Groups:      groups,
		Permissions: lister.Cluster{Kube: clients.accounts, Who: "central discovery"},
		Log:         log, Most: inflight.Memory() / 3, Fair: true,
	}, nil
}

// recorder returns a recorder that sends Events.
func recorder(ctx context.Context, kube kubernetes.Interface, scheme *runtime.Scheme) (events.EventRecorder, error) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kube.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return nil, fmt.Errorf("record events: %w", err)
	}
	return broadcaster.NewRecorder(scheme, discoveryName), nil
}

// share returns a configuration with a fraction of the rate limits.
func share(cfg *rest.Config, part int) *rest.Config {
	out := rest.CopyConfig(cfg)
	out.QPS, out.Burst = cfg.QPS/float32(part), max(1, cfg.Burst/part)
	return out
}

// serve follows workloads and serves their targets until the context ends.
func (p *discoveryService) serve(ctx context.Context, o *Options, d *discoveryOptions, leader *startup.Leader) error {
	targets := http.NewServeMux()
	p.server.Register(targets)
	streams, err := httpserver.Listen(httpserver.Options{Address: d.address, Handler: targets, Logger: p.log, TLS: p.tls})
	if err != nil {
		return fmt.Errorf("--targets-listen-address=%s: %w", d.address, err)
	}
	reg := server.Registry("prometheus_operator")
	reg.MustRegister(p.server, p.runner)
	access := web.New(web.Options{Mode: o.API, Logger: p.log})
	if err := access.Connect(p.cfg); err != nil {
		return err
	}
	status, err := o.listen(server.Handler(reg, p.runner.Ready, discoveryPages{p, access}), p.log)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return streams.Serve(ctx) })
	g.Go(func() error { return status.Serve(ctx) })
	g.Go(func() error { p.runner.Run(ctx); return nil })
	if p.certificate != nil {
		g.Go(func() error { p.certificate.Run(ctx, leader.Leads); return nil })
	}
	g.Go(func() error { p.lead(ctx, leader); return nil })
	return g.Wait()
}

// lead serves lists from the time at which this replica leads until the context ends.
func (p *discoveryService) lead(ctx context.Context, leader *startup.Leader) {
	defer p.server.Feed.Lead(0)
	if !leader.Await(ctx) {
		return
	}
	p.server.Feed.Lead(uint64(time.Now().UnixMilli()))
	<-ctx.Done()
}

// identify sets the serving certificate: that of files, or a generated one.
func (d *discoveryOptions) identify(p *discoveryService, o *Options, cfg *rest.Config, namespace string) (err error) {
	if d.certFile != "" {
		files := httpserver.TLS{Enable: true, Flags: "--targets-", CertFile: d.certFile, KeyFile: d.keyFile, ReloadInterval: o.Web.ReloadInterval, MinVersion: "VersionTLS13"}
		p.tls, err = files.Config(p.log)
		return err
	}
	if p.certificate, err = d.certificate(cfg, namespace, o.ClusterDomain, p.log); err != nil {
		return err
	}
	p.tls = &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: p.certificate.Certificate, NextProtos: []string{"http/1.1"}}
	return nil
}

// store sets where decisions about numbers of shards are stored.
func (d *discoveryOptions) store(p *discoveryService, cfg *rest.Config, namespace string) error {
	kube, err := kubernetes.NewForConfig(cfg)
	if err == nil {
		p.runner.Speed, p.runner.Decisions = d.speed, &central.ConfigMap{Writer: apply.Webhooks{Kube: kube}, Namespace: namespace, Name: d.service + "-shards"}
	}
	return err
}

// certificate returns the certificate of the Service.
func (d *discoveryOptions) certificate(cfg *rest.Config, namespace, domain string, log *slog.Logger) (*certs.Server, error) {
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	host := d.service + "." + namespace
	return &certs.Server{
		Writer: apply.Webhooks{Kube: kube}, Name: d.service, Namespace: namespace, Secret: d.service + "-certificate", ConfigMap: d.service + "-ca",
		Hosts: []string{host, host + ".svc", host + ".svc." + strings.TrimSuffix(cmp.Or(domain, "cluster.local"), ".")}, Logger: log.With("component", "certificate"),
	}, nil
}

// discoveryPages are the pages of the command discovery.
type discoveryPages struct {
	*discoveryService
	access *web.Handler
}

// Register implements [server.Part].
func (p discoveryPages) Register(mux *http.ServeMux) {
	p.runner.Register(mux, p.server, p.access.Guard)
}

// Guard implements [server.Guard].
func (p discoveryPages) Guard(profiles http.Handler) http.Handler { return p.access.Guard(profiles) }
