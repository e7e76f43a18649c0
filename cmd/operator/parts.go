package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// part is something that the operator does where a kind is installed and it has
// the rights.
type part struct {
	name  string // for people
	kinds []kind // that must be installed
	needs []access
	start func() error

	told  string    // what was last said to be missing
	again time.Time // not looked at before
}

// kind is a resource in a version of our API group.
type kind struct {
	version  schema.GroupVersion
	resource string
}

// ownersOf is the controller of a kind of owner. It cannot work without the
// kinds that owners select, except the youngest, ScrapeConfigs.
func ownersOf(owners *prometheus.Kind, instances controller.Namespaces) *part {
	version := owners.GroupVersion()
	p := &part{name: owners.Component, kinds: []kind{{version, owners.Resource}}}
	for _, resource := range []string{v1.ServiceMonitorResource, v1.PodMonitorResource, v1.ProbeResource} {
		p.kinds = append(p.kinds, kind{v1.SchemeGroupVersion, resource})
	}
	if owners == prometheus.Servers {
		p.kinds = append(p.kinds, kind{v1.SchemeGroupVersion, v1.PrometheusRuleResource})
	}
	// Which namespaces are selected is seen by their labels.
	p.needs = append(p.needs, access{"", "namespaces", "list", ""}, access{"", "namespaces", "watch", ""})
	for _, namespace := range instances.Watches() {
		p.needs = append(p.needs,
			access{version.Group, owners.Resource, "list", namespace},
			access{version.Group, owners.Resource, "watch", namespace},
			access{version.Group, owners.Resource + "/status", "patch", namespace})
	}
	return p
}

// scrapeConfigs is the reading of ScrapeConfigs. The kind is younger than the
// others, so clusters without it are common.
func scrapeConfigs(configs controller.Namespaces) *part {
	p := &part{name: "ScrapeConfigs", kinds: []kind{{v1alpha1.SchemeGroupVersion, v1alpha1.ScrapeConfigResource}}}
	for _, namespace := range configs.Watches() {
		for _, verb := range []string{"list", "watch"} {
			p.needs = append(p.needs, access{v1alpha1.GroupName, v1alpha1.ScrapeConfigResource, verb, namespace})
		}
	}
	return p
}

// lack is what a part needs and does not have, for people.
type lack struct {
	kinds  []string // not installed
	rights []string // asked for when all kinds are
}

// String is for people.
func (l *lack) String() string {
	if len(l.kinds) > 0 {
		return "not installed: " + strings.Join(l.kinds, ", ")
	}
	return "no permission to " + strings.Join(l.rights, ", ")
}

// missing returns nil when the part can start.
func (p *part) missing(ctx context.Context, kube kubernetes.Interface) (*lack, error) {
	kinds, err := p.absent(kube)
	if err != nil {
		return nil, err
	}
	if len(kinds) > 0 {
		return &lack{kinds: kinds}, nil
	}
	rights, err := denied(ctx, kube, p.needs)
	if err != nil || len(rights) == 0 {
		return nil, err
	}
	return &lack{rights: rights}, nil
}

// absent names the kinds that are not installed.
func (p *part) absent(kube kubernetes.Interface) (out []string, err error) {
	served := map[schema.GroupVersion][]metav1.APIResource{}
	for _, k := range p.kinds {
		if _, asked := served[k.version]; !asked {
			if served[k.version], err = resources(kube, k.version); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(served[k.version], func(r metav1.APIResource) bool { return r.Name == k.resource }) {
			out = append(out, k.resource+" "+k.version.String())
		}
	}
	return out, nil
}

// resources are what the API server has of a version; none when it does not know it.
func resources(kube kubernetes.Interface, version schema.GroupVersion) ([]metav1.APIResource, error) {
	list, err := kube.Discovery().ServerResourcesForGroupVersion(version.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the resources of %s: %w", version, err)
	}
	return list.APIResources, nil
}

// warn says what is missing, once, and decides when to look again.
func (p *part) warn(log *slog.Logger, l *lack) {
	p.again = time.Now().Add(lookForKinds)
	if len(l.kinds) == 0 {
		p.again = time.Now().Add(lookForRights)
	}
	if text := l.String(); text != p.told {
		p.told = text
		log.Warn("a part is not started", "part", p.name, "reason", text)
	}
}

const (
	// lookForKinds is the pause between looks for a kind that is not installed: one
	// call that every account may make.
	lookForKinds = 10 * time.Second
	// lookForRights is the pause between looks for rights: one call for each.
	lookForRights = time.Minute
)

// awaitParts starts parts when what they miss is there, until none is left.
func awaitParts(ctx context.Context, parts []*part, kube kubernetes.Interface, log *slog.Logger, run func(func() error)) {
	tick := time.NewTicker(lookForKinds)
	defer tick.Stop()
	for len(parts) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		parts = slices.DeleteFunc(parts, func(p *part) bool {
			if time.Now().Before(p.again.Add(-lookForKinds / 2)) {
				return false
			}
			lacking, err := p.missing(ctx, kube)
			switch {
			case err != nil:
				if ctx.Err() == nil {
					log.Warn("cannot look for what a part needs", "part", p.name, "err", err)
				}
				return false
			case lacking != nil:
				p.warn(log, lacking)
				return false
			}
			log.Info("a part is started: what it needs is there now", "part", p.name)
			run(p.start)
			return true
		})
	}
}
