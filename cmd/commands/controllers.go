package commands

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	promclient "github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
	"github.com/firekeeper-dev/firekeeper/operator/web"
)

// process holds the objects that all controllers of a process share.
type process struct {
	starter *startup.Starter
	missing *startup.Missing
	leader  *startup.Leader
	ready   *readiness
	log     *slog.Logger
	reg     promclient.Registerer
	api     *web.Handler
	plain   *rest.Config // forbidden calls are not reported as missing permissions
	known   *apiReader   // nil without an HTTP API
}

// readiness tracks whether the caches of the controllers that could start immediately have
// synced.
type readiness struct {
	known  atomic.Bool  // whether the number of controllers is known
	behind atomic.Int32 // number of controllers that have not synced; controllers that start later make it negative
}

func (r *readiness) expect(controllers int) {
	r.behind.Add(int32(controllers))
	r.known.Store(true)
}

func (r *readiness) synced() { r.behind.Add(-1) }

func (r *readiness) ok() bool { return r.known.Load() && r.behind.Load() <= 0 }

// controllers runs the controllers that the CRDs and permissions of the cluster allow, and
// starts the others once that changes.
//
// Errors: a controller failed; the permissions that a feature gate needs are missing.
func (o *Options) controllers(ctx context.Context, setups []engine.Setup, scopes engine.Scopes, clients engine.Clients, p process) error {
	g, ctx := errgroup.WithContext(ctx)
	delivers := o.delivers(p.starter)
	sources, err := readSources(ctx, setups, scopes, &clients, p)
	if err != nil {
		return err
	}
	var busy atomic.Int32
	settled := func() {
		if busy.Add(-1) == 0 {
			go footprint.Settle(ctx)
		}
	}
	var now []*startup.Component
	for _, s := range setups {
		s.Lead = p.leader.Await
		s.InstantDelivery, s.Settled, s.StorageClasses = delivers.Load, settled, !p.starter.Lacks(startup.GetStorageClasses)
		c := startup.Controller(s.Controller, s.Row.GroupVersionResource(), required(s.Kind), startupScopes(s, scopes), func() error {
			if err := mayUseGates(ctx, clients.Kube, &s, scopes.SelectedBy(s.Kind), p.log); err != nil {
				return err
			}
			var controller *engine.Controller
			s.Synced = func() { p.api.Add(s.Row, controller); p.ready.synced() }
			p.known.watch(&s, func() *engine.Controller { return controller })
			controller = engine.New(s.Kind, s.Options, sources, clients, p.log, p.reg)
			return controller.Run(ctx)
		})
		c.OnCheck = func(installed bool) {
			if installed {
				engine.Expect(p.reg, s.Label)
			} else {
				engine.NotExpected(p.reg, s.Label)
			}
		}
		ready, err := p.starter.Check(ctx, c)
		if err != nil {
			return err
		}
		if ready {
			now = append(now, c)
		}
	}
	busy.Store(int32(len(now)))
	p.ready.expect(len(now))
	kubelets, err := o.kubelets(ctx, clients, p)
	if err != nil {
		return err
	}
	g.Go(func() error { clients.Reads.Run(ctx); return nil })
	g.Go(func() error { p.missing.Run(ctx, clients.Kube); return nil })
	g.Go(func() error { p.starter.Recheck(ctx); return nil })
	for _, c := range append(now, kubelets...) {
		g.Go(c.Start)
	}
	g.Go(func() error { p.starter.Await(ctx, g.Go); return nil })
	return g.Wait()
}

// delivers returns whether changes are delivered instantly, which changes when the permission is granted.
func (o *Options) delivers(starter *startup.Starter) *atomic.Bool {
	out := &atomic.Bool{}
	out.Store(o.InstantDelivery && !starter.Lacks(startup.PatchPods))
	if starter.Lacks(startup.PatchPods) {
		starter.WhenGranted(startup.PatchPods, "instant delivery", func() error { out.Store(true); return nil })
	}
	return out
}

// readSources returns the sources of the controllers, without the kinds that cannot be read yet. These
// are added to clients.
//
// Errors: those of checkLater.
func readSources(ctx context.Context, setups []engine.Setup, scopes engine.Scopes, clients *engine.Clients, p process) (sources *engine.Sources, err error) {
	later, err := checkLater(ctx, setups, scopes, p.starter, func(row *catalog.Row) error { return sources.Read(ctx, row) })
	if err != nil {
		return nil, err
	}
	clients.Absent, clients.Forbidden = slices.Collect(maps.Keys(later)), forbidden(later)
	for row := range later {
		if reason := clients.Forbidden(row); reason != "" {
			p.log.Warn("a kind is installed and cannot be read: workloads that select it keep their last configuration until it can", "kind", row.Kind, "reason", reason)
		}
	}
	clients.May = p.starter.May
	sources = engine.NewSources(*clients, scopes)
	p.missing.OnGrant(func(granted startup.Permission) { sources.Granted(granted.Namespace) })
	return sources, nil
}

// checkLater returns the selected kinds that cannot be read yet, with the components that
// wait for them. read is called for each kind as soon as it can be read.
func checkLater(ctx context.Context, setups []engine.Setup, scopes engine.Scopes, starter *startup.Starter, read func(*catalog.Row) error) (map[*catalog.Row]*startup.Component, error) {
	later := map[*catalog.Row]*startup.Component{}
	for _, row := range selectedBy(setups) {
		if !row.Recent {
			continue
		}
		c := laterKind(row, scopes, func() error { return read(row) })
		ready, err := starter.Check(ctx, c)
		if err != nil {
			return nil, err
		}
		if !ready {
			later[row] = c
		}
	}
	return later, nil
}

// forbidden returns a function for engine.Clients that describes the missing permissions of
// a kind that is not read.
func forbidden(later map[*catalog.Row]*startup.Component) func(*catalog.Row) string {
	return func(row *catalog.Row) string {
		if c := later[row]; c != nil {
			return c.Forbidden()
		}
		return ""
	}
}

// selectedBy returns the kinds of objects that workloads of any kind select.
func selectedBy(setups []engine.Setup) (out []*catalog.Row) {
	for _, s := range setups {
		for _, k := range s.Selects {
			if !slices.Contains(out, k.Row) {
				out = append(out, k.Row)
			}
		}
	}
	return out
}

// required returns the resources that a controller cannot work without: the selected kinds
// that exist in every cluster with our CRDs.
func required(k *engine.Kind) (out []schema.GroupVersionResource) {
	for _, s := range k.Selects {
		if !s.Recent {
			out = append(out, s.Row.GroupVersionResource())
		}
	}
	return out
}

// laterKind returns a component that reads a kind once it is installed.
func laterKind(row *catalog.Row, scopes engine.Scopes, start func() error) *startup.Component {
	return &startup.Component{
		Name:        row.Kind + "s",
		Resources:   []schema.GroupVersionResource{row.GroupVersionResource()},
		Permissions: startup.Permissions(row.Group, row.Resource, scopes.For(row).Watches(), "list", "watch"),
		Start:       start,
	}
}

// startupScopes returns the namespaces in which the controller of a kind needs permissions.
func startupScopes(setup engine.Setup, s engine.Scopes) startup.Scopes {
	return startup.Scopes{Instances: setup.Instances, Configs: s.SelectedBy(setup.Kind), References: setup.References}
}

// optionals returns the optional permissions that the flags do not disable.
func (o *Options) optionals() []*startup.Optional {
	off := map[*startup.Optional]bool{startup.PatchPods: !o.InstantDelivery, startup.ExpandClaims: !o.GrowClaims}
	return slices.DeleteFunc(startup.Optionals(), func(p *startup.Optional) bool { return off[p] })
}
