package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	promclient "github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// controllers runs what the cluster and the operator's rights allow, and starts
// the rest as soon as they do.
//
// Errors: a controller failed; the rights that a feature gate needs are missing.
func (o *Options) controllers(ctx context.Context, opts prometheus.Options, clients prometheus.Clients, log *slog.Logger, reg promclient.Registerer) error {
	if opts.Capabilities.AgentDaemonSet {
		if err := mayRunDaemonSets(ctx, clients.Kube, opts.Scopes.Instances); err != nil {
			return err
		}
	}
	if opts.ConfigStatus {
		if err := mayWriteBindings(ctx, clients.Kube, opts.Scopes); err != nil {
			return err
		}
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
		p := ownersOf(kind, opts.Scopes.Instances)
		p.start = func() error { return prometheus.New(kind, opts, sources, clients, log, reg).Run(ctx) }
		if err := sort(p); err != nil {
			return err
		}
	}
	busy.Store(int32(len(now)))
	for _, p := range now {
		g.Go(p.start)
	}
	g.Go(func() error {
		awaitParts(ctx, later, clients.Kube, log, g.Go)
		return nil
	})
	return g.Wait()
}

// mayGrowClaims asks for the rights that claims need to grow, and says so when
// they are missing.
func mayGrowClaims(ctx context.Context, kube kubernetes.Interface, instances controller.Namespaces, log *slog.Logger) (bool, error) {
	var needs []access
	for _, namespace := range instances.Watches() {
		for _, verb := range []string{"list", "watch", "patch"} {
			needs = append(needs, access{"", "persistentvolumeclaims", verb, namespace})
		}
	}
	missing, err := denied(ctx, kube, needs)
	if err == nil && len(missing) > 0 {
		log.Warn("claims do not grow when an object asks for more storage; --no-expand-volume-claims takes this warning away",
			"no_permission_to", strings.Join(missing, ", "))
	}
	return len(missing) == 0, err
}

// mayRunDaemonSets checks the rights that the feature gate asks for: agents must
// not be left without their pods silently.
func mayRunDaemonSets(ctx context.Context, kube kubernetes.Interface, instances controller.Namespaces) error {
	var needs []access
	for _, namespace := range instances.Watches() {
		for _, verb := range []string{"get", "list", "watch", "create", "update", "delete"} {
			needs = append(needs, access{"apps", "daemonsets", verb, namespace})
		}
	}
	missing, err := denied(ctx, kube, needs)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("--feature-gates=%s=true: no permission to %s", gateAgentDaemonSet, strings.Join(missing, ", "))
	}
	return err
}

// mayWriteBindings checks the rights that the feature gate asks for.
func mayWriteBindings(ctx context.Context, kube kubernetes.Interface, scopes prometheus.Scopes) error {
	const group = v1.GroupName
	var needs []access
	for _, namespace := range scopes.Configs.Watches() {
		for _, resource := range []string{v1.ServiceMonitorResource, v1.PodMonitorResource, v1.ProbeResource, v1.PrometheusRuleResource} {
			for _, verb := range []string{"update", "patch"} {
				needs = append(needs, access{group, resource + "/status", verb, namespace})
			}
		}
	}
	for _, namespace := range scopes.Instances.Watches() {
		needs = append(needs, access{group, v1.PrometheusResource, "patch", namespace}) // the finalizer
	}
	missing, err := denied(ctx, kube, needs)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("--feature-gates=%s=true: no permission to %s", gateConfigStatus, strings.Join(missing, ", "))
	}
	return err
}
