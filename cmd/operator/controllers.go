package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	promclient "github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// controllers runs what the cluster and the operator's rights allow, and starts
// the rest as soon as they do.
//
// Errors: a controller failed; the rights that a feature gate needs are missing.
func (o *Options) controllers(ctx context.Context, opts prometheus.Options, clients prometheus.Clients, missing lacks, log *slog.Logger, reg promclient.Registerer) error {
	if err := mayUseGates(ctx, clients.Kube, opts); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	var now, later []*part
	sort := func(p *part) error {
		lacking, err := p.missing(ctx, clients.Kube)
		switch {
		case err != nil:
			return err
		case lacking != nil:
			p.warn(log, lacking)
			later = append(later, p)
		default:
			now = append(now, p)
		}
		return nil
	}
	var delivers atomic.Bool
	delivers.Store(o.InstantDelivery && !missing.has(patchPods))
	opts.InstantDelivery = delivers.Load
	if missing.has(patchPods) {
		later = append(later, instantDelivery(missing, opts.Scopes, &delivers))
	}
	scrapes := scrapeConfigs(opts.Scopes.Configs)
	if err := sort(scrapes); err != nil {
		return err
	}
	clients.ScrapeConfigs, now = len(now) == 1, nil
	sources := prometheus.NewSources(clients, opts.Scopes)
	scrapes.start = func() error { return sources.ReadScrapeConfigs(ctx) }

	var busy atomic.Int32
	opts.Settled = func() {
		if busy.Add(-1) == 0 {
			go settleMemory(ctx)
		}
	}
	for _, kind := range []*prometheus.Kind{prometheus.Servers, prometheus.Agents} {
		p := ownersOf(kind, opts.Scopes)
		p.start = func() error { return prometheus.New(kind, opts, sources, clients, log, reg).Run(ctx) }
		if err := sort(p); err != nil {
			return err
		}
	}
	busy.Store(int32(len(now)))
	g.Go(func() error { clients.Reads.Run(ctx); return nil })
	for _, p := range now {
		g.Go(p.start)
	}
	g.Go(func() error {
		awaitParts(ctx, later, clients.Kube, log, g.Go)
		return nil
	})
	return g.Wait()
}

// mayUseGates checks the permissions that enabled feature gates require.
func mayUseGates(ctx context.Context, kube kubernetes.Interface, opts prometheus.Options) error {
	if opts.Capabilities.AgentDaemonSet {
		if err := mayRunDaemonSets(ctx, kube, opts.Scopes.Instances); err != nil {
			return err
		}
	}
	if opts.ConfigStatus {
		return mayWriteBindings(ctx, kube, opts.Scopes)
	}
	return nil
}

// mayRunDaemonSets checks the permissions that the feature gate requires: agents must
// not be left without their pods silently.
func mayRunDaemonSets(ctx context.Context, kube kubernetes.Interface, instances informer.Namespaces) error {
	needs := accesses("apps", "daemonsets", instances.Watches(), "get", "list", "watch", "create", "update", "delete")
	missing, err := denied(ctx, kube, needs)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("--feature-gates=%s=true: no permission to %s", gateAgentDaemonSet, summary(missing))
	}
	return err
}

// mayWriteBindings checks the permissions that the feature gate requires.
func mayWriteBindings(ctx context.Context, kube kubernetes.Interface, scopes prometheus.Scopes) error {
	var needs []access
	for _, resource := range []string{v1.ServiceMonitorResource, v1.PodMonitorResource, v1.ProbeResource, v1.PrometheusRuleResource} {
		needs = append(needs, accesses(v1.GroupName, resource+"/status", scopes.Configs.Watches(), "update", "patch")...)
	}
	for _, owners := range []*prometheus.Kind{prometheus.Servers, prometheus.Agents} { // the finalizer
		needs = append(needs, accesses(v1.GroupName, owners.Resource, scopes.Instances.Watches(), "patch")...)
	}
	missing, err := denied(ctx, kube, needs)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("--feature-gates=%s=true: no permission to %s", gateConfigStatus, summary(missing))
	}
	return err
}
