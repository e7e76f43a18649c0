package commands

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/evidence"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/memo"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
	"github.com/firekeeper-dev/firekeeper/operator/web"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
	"github.com/firekeeper-dev/firekeeper/operator/web/local"
)

const uiHelp = "Serve the pages of the operator, and its HTTP API, on this machine: what needs attention, what each workload selects, runs and scrapes, and why not. " +
	"Reads the cluster of the kubeconfig with your permissions, writes nothing, and prints the address to open in a browser. Ends with Ctrl-C."

var uiExample = []string{
	"ui # then open the address that it prints",
	"ui --namespaces demo # if you may not list all namespaces",
	"ui --web.listen-address=127.0.0.1:0 # on any free port",
}

// uiAddress is the default of --web.listen-address for the command ui.
const uiAddress = "127.0.0.1:9099"

// uiOptions are the arguments of the command ui.
type uiOptions struct {
	address local.Address // set by validate
}

// bindUI declares the flags in a program in which no other command has them.
func (o *Options) bindUI(cmd *kingpin.CmdClause) {
	cmd.Flag("web.listen-address", "host:port to serve the pages on. Other than loopback addresses need --web.api=open.").
		Default(uiAddress).IsSetByUser(&o.listenSet).StringVar(&o.ListenAddress)
	cmd.Flag("web.api", "Who may read: authenticated (only from this machine, with your permissions) or open (anyone who reaches the address, with your permissions).").
		Default(web.Authenticated).EnumVar(&o.API, web.Authenticated, web.Open)
}

// validate returns an error for the first invalid argument.
func (u *uiOptions) validate(o *Options) error {
	if !o.listenSet {
		o.ListenAddress = uiAddress
	}
	var err error
	if u.address, err = local.Parse(o.ListenAddress); err != nil {
		return fmt.Errorf("--web.listen-address=%s: %w", o.ListenAddress, err)
	}
	switch {
	case o.API == web.Off:
		return fmt.Errorf("--web.api=%s: ui serves nothing else", web.Off)
	case !u.address.IsLoopback() && o.API != web.Open:
		return fmt.Errorf("--web.listen-address=%s: anyone who reaches this address would read the cluster with your permissions; use %s, or add --web.api=%s",
			o.ListenAddress, uiAddress, web.Open)
	}
	return nil
}

// run serves until the context ends, and returns the exit code.
func (u *uiOptions) run(ctx context.Context, o *Options, s streams) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go footprint.Follow(ctx)
	c, err := o.readable(ctx)
	if err != nil {
		return 2, err
	}
	defer c.targets.Close()
	log := slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c.targets.Log = log
	srv, err := u.listen(o, c, log)
	if err != nil {
		return 2, err
	}
	if err := u.greet(ctx, o, c, s); err != nil {
		return 2, err
	}
	if err := srv.Serve(ctx); err != nil {
		return 2, err
	}
	return 0, nil
}

// listen binds the address and records the actual port.
func (u *uiOptions) listen(o *Options, c *readable, log *slog.Logger) (*httpserver.Server, error) {
	api := web.New(web.Options{Mode: web.Open, Logger: log})
	api.Answer(insight.New(c.parts))
	mux := http.NewServeMux()
	api.Register(mux)
	c.registerStatus(mux)
	var guarded http.Handler
	srv, err := httpserver.Listen(httpserver.Options{
		Address: u.address.String(), Logger: slog.New(slog.DiscardHandler),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { guarded.ServeHTTP(w, r) }),
	})
	if err != nil {
		return nil, fmt.Errorf("--web.listen-address=%s: %w", o.ListenAddress, err)
	}
	u.address = u.address.WithPort(uint16(srv.Addr().(*net.TCPAddr).Port))
	guarded = local.Guard(mux, u.address) // no request is served before Serve
	return srv, nil
}

// greet prints the address, the cluster and the user.
func (u *uiOptions) greet(ctx context.Context, o *Options, c *readable, s streams) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	who := c.whoami(ctx)
	if _, err := fmt.Fprintf(s.out, "%s\nThe pages show the cluster %s as far as %s may read it. Press Ctrl-C to stop.\n", u.address.URL(), c.where, who); err != nil {
		return err
	}
	if !u.address.IsLoopback() {
		fmt.Fprintf(s.err, "warning: anyone who reaches %s reads the cluster as %s\n", o.ListenAddress, who)
	}
	for _, namespace := range c.parts.Scopes.Instances.Watches() {
		q := readers.Query{GroupVersionResource: catalog.Prometheus.GroupVersionResource(), Namespace: namespace}
		if _, err := c.reader.List(ctx, q); apierrors.IsForbidden(err) {
			fmt.Fprintf(s.err, "warning: %s may not list %s; to see some namespaces, name them with --namespaces\n", who, q)
		}
	}
	return nil
}

// readable is a cluster that the user reads.
type readable struct {
	kube    kubernetes.Interface
	where   string // human-readable
	reader  *memo.Reader
	options *userOptions
	version *semver.Version
	targets *livetargets.Source
	parts   insight.Parts
}

// readable connects to the cluster and caches reads until the context ends.
func (o *userOptions) readable(ctx context.Context) (*readable, error) {
	live, cfg, version, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	c := &readable{kube: live.Kube, options: o, where: cfg.Host}
	if name := o.contextName(); name != "" {
		c.where = fmt.Sprintf("%s (%s)", name, cfg.Host)
	}
	if c.version, err = parseKubernetes(version); err != nil {
		return nil, err
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c.reader = memo.New(ctx, live, memo.Metadata(meta))
	c.parts = insight.Parts{
		Reader: c.reader,
		Fresh: func() ([]engine.Setup, error) {
			setups, _, err := o.setups(c.version)
			return setups, err
		},
		Look: func(ctx context.Context, r readers.Reader) nearmiss.Look { return evidence.New(ctx, r).Look },
		Finder: func(_ readers.Reader, over *discovery.Objects) preview.Finder {
			return preview.Live{Kube: live.Kube, Applied: over}
		},
	}
	if c.parts.Options, err = o.prometheus(c.version); err != nil {
		return nil, err
	}
	if c.parts.Setups, c.parts.Scopes, err = o.setups(c.version); err != nil {
		return nil, err
	}
	servers, err := o.servers()
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(live.Kube, cfg, c.parts.Scopes)
	if err != nil {
		return nil, err
	}
	setups, err := c.parts.Fresh()
	c.targets = &livetargets.Source{
		Reader: c.reader, Setups: setups, Scopes: c.parts.Scopes, Options: c.parts.Options,
		Groups:      groups,
		Permissions: lister.Cluster{Kube: live.Kube},
		Servers:     servers,
	}
	c.parts.Targets = c.targets
	return c, err
}

// whoami returns the human-readable name of the user according to the API server.
func (c *readable) whoami(ctx context.Context) string {
	review, err := c.kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || review.Status.UserInfo.Username == "" {
		return "you" // API servers before 1.28
	}
	return review.Status.UserInfo.Username
}
