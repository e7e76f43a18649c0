package commands

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/kubelet"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
)

// kubeletFlags are the flags for the kubelet Service.
type kubeletFlags struct {
	Service, Selector, Addresses   string
	Endpoints, Slices, HTTPMetrics bool
	SyncPeriod                     time.Duration
}

const (
	internalAddresses = "internal"
	externalAddresses = "external"
)

func (k *kubeletFlags) bind(flags flagSet) {
	flags.Flag("kubelet-service", "NAMESPACE/NAME of a Service that the operator keeps for the kubelets, with their addresses. Default: none.").
		StringVar(&k.Service)
	flags.Flag("kubelet-selector", "Label selector for the nodes of --kubelet-service. Default: all.").StringVar(&k.Selector)
	flags.Flag("kubelet-node-address-priority", "Addresses of nodes to prefer: internal or external.").
		Default(internalAddresses).StringVar(&k.Addresses)
	flags.Flag("kubelet-endpoints", "Write the addresses of --kubelet-service as Endpoints (default; --no-kubelet-endpoints disables it).").
		Default("true").BoolVar(&k.Endpoints)
	flags.Flag("kubelet-endpointslice", "Write the addresses of --kubelet-service as EndpointSlices.").BoolVar(&k.Slices)
	flags.Flag("kubelet-sync-period", "Pause between checks of --kubelet-service for foreign changes. Changed nodes are written within about a second.").
		Default("3m").DurationVar(&k.SyncPeriod)
	flags.Flag("kubelet-http-metrics", "Add the port http-metrics (10255) to --kubelet-service (default; --no-kubelet-http-metrics removes it).").
		Default("true").BoolVar(&k.HTTPMetrics)
}

// validate checks each flag. Errors start with the flag.
func (k *kubeletFlags) validate() error {
	if _, err := labels.Parse(k.Selector); err != nil {
		return fmt.Errorf("--kubelet-selector=%s: %w", k.Selector, err)
	}
	if err := oneOf(internalAddresses, externalAddresses)(k.Addresses); err != nil {
		return fmt.Errorf("--kubelet-node-address-priority=%s: %w", k.Addresses, err)
	}
	if k.SyncPeriod <= 0 {
		return fmt.Errorf("--kubelet-sync-period=%s: must be positive", k.SyncPeriod)
	}
	if k.Service == "" {
		return nil
	}
	if _, err := k.name(); err != nil {
		return fmt.Errorf("--kubelet-service=%s: %w", k.Service, err)
	}
	if !k.Endpoints && !k.Slices {
		return errors.New("--kubelet-service: needs --kubelet-endpoints or --kubelet-endpointslice")
	}
	return nil
}

// name returns the name of the Service.
//
// Errors: it is not of the form NAMESPACE/NAME; one of the two is not a valid name.
func (k *kubeletFlags) name() (types.NamespacedName, error) {
	out, err := catalog.FullKey(k.Service)
	if err != nil {
		return types.NamespacedName{}, err
	}
	if wrong := validation.IsDNS1123Label(out.Namespace); len(wrong) > 0 {
		return types.NamespacedName{}, fmt.Errorf("%q is not the name of a namespace: %s", out.Namespace, wrong[0])
	}
	if wrong := validation.IsDNS1035Label(out.Name); len(wrong) > 0 {
		return types.NamespacedName{}, fmt.Errorf("%q is not the name of a Service: %s", out.Name, wrong[0])
	}
	return out, nil
}

// kubelet returns the options of the kubelet Service from the flags.
//
// Errors: those of name.
func (o *Options) kubelet() (kubelet.Options, error) {
	k := o.Kubelet
	name, err := k.name()
	return kubelet.Options{
		Service: name, Selector: k.Selector, External: k.Addresses == externalAddresses, HTTPMetrics: k.HTTPMetrics,
		Endpoints: k.Endpoints, Slices: k.Slices, SyncPeriod: k.SyncPeriod, Labels: o.Labels, Annotations: o.Annotations,
	}, err
}

// kubelets returns the controller of the kubelet Service if it is enabled and can start.
// It does not require the permission to write EndpointSlices if it writes Endpoints: it
// adds the slices once the permission is granted.
func (o *Options) kubelets(ctx context.Context, clients engine.Clients, p process) ([]*startup.Component, error) {
	k := o.Kubelet
	if k.Service == "" {
		return nil, nil
	}
	options, err := o.kubelet()
	if err != nil {
		return nil, err
	}
	var maySlice atomic.Bool
	options.MayWriteSlices, options.Lead = maySlice.Load, p.leader.Await
	controller := kubelet.New(options, clients.Kube, clients.Reads, p.log, p.reg)

	in := []string{options.Service.Namespace}
	needs := append(startup.Permissions("", "nodes", []string{""}, "list"), startup.Permissions("", "services", in, "get", "create", "update")...)
	if k.Endpoints {
		needs = append(needs, startup.Permissions("", "endpoints", in, "get", "create", "update")...)
	}
	slices := &startup.Component{
		Name:        "EndpointSlices of --kubelet-service",
		Permissions: startup.Permissions("discovery.k8s.io", "endpointslices", in, "list", "create", "update", "delete"),
		Start:       func() error { maySlice.Store(true); controller.Refresh(); return nil },
	}
	switch {
	case k.Slices && k.Endpoints:
		ready, err := p.starter.Check(ctx, slices)
		if err != nil {
			return nil, err
		}
		maySlice.Store(ready)
	case k.Slices:
		needs = append(needs, slices.Permissions...)
		maySlice.Store(true)
	}
	c := &startup.Component{Name: "--kubelet-service", Permissions: needs, Start: func() error { return controller.Run(ctx) }}
	ready, err := p.starter.Check(ctx, c)
	if err != nil || !ready {
		return nil, err
	}
	return []*startup.Component{c}, nil
}
