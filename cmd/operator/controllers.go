package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	promclient "github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// startable names what a kind's controller needs and does not have, for people.
func startable(ctx context.Context, kube kubernetes.Interface, kind *prometheus.Kind, instances controller.Namespaces) (missing []string, err error) {
	version := kind.GroupVersion()
	installed, err := serves(kube, version.String(), kind.Resource)
	if err != nil {
		return nil, err
	}
	if !installed {
		return []string{fmt.Sprintf("the kind %s in %s", kind.Name, version)}, nil
	}
	for _, namespace := range instances.Watches() {
		for _, need := range []access{
			{version.Group, kind.Resource, "list", namespace},
			{version.Group, kind.Resource, "watch", namespace},
			{version.Group, kind.Resource + "/status", "patch", namespace},
		} {
			ok, err := may(ctx, kube, need)
			if err != nil {
				return nil, err
			}
			if !ok {
				missing = append(missing, need.String())
			}
		}
	}
	return missing, nil
}

// controllers runs the controllers of the kinds of owner that are there.
func (o *Options) controllers(ctx context.Context, opts prometheus.Options, clients prometheus.Clients, log *slog.Logger, reg promclient.Registerer) error {
	kinds := []*prometheus.Kind{prometheus.Servers}
	missing, err := startable(ctx, clients.Kube, prometheus.Agents, opts.Scopes.Instances)
	switch {
	case err != nil:
		return err
	case len(missing) == 0:
		kinds = append(kinds, prometheus.Agents)
	default:
		log.Warn("a controller is not started", "controller", prometheus.Agents.Component, "missing", missing)
	}
	var busy atomic.Int32
	busy.Store(int32(len(kinds)))
	opts.Settled = func() {
		if busy.Add(-1) == 0 {
			go settleMemory(ctx)
		}
	}
	sources := prometheus.NewSources(clients, opts.Scopes)
	g, ctx := errgroup.WithContext(ctx)
	for _, kind := range kinds {
		c := prometheus.New(kind, opts, sources, clients, log, reg)
		g.Go(func() error { return c.Run(ctx) })
	}
	return g.Wait()
}
