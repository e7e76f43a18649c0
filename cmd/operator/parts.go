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
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// part is something that the operator does where a kind is installed and it has
// the rights.
type part struct {
	name              string // for people
	version, resource string // that must be installed
	needs             []access
	start             func() error

	told  string    // what was last said to be missing
	again time.Time // not looked at before
}

// ownersOf is the controller of a kind of owner.
func ownersOf(kind *prometheus.Kind, instances controller.Namespaces) *part {
	version := kind.GroupVersion()
	p := &part{name: kind.Component, version: version.String(), resource: kind.Resource}
	for _, namespace := range instances.Watches() {
		p.needs = append(p.needs,
			access{version.Group, kind.Resource, "list", namespace},
			access{version.Group, kind.Resource, "watch", namespace},
			access{version.Group, kind.Resource + "/status", "patch", namespace})
	}
	return p
}

// scrapeConfigs is the reading of ScrapeConfigs. The kind is younger than the
// others, so clusters without it are common.
func scrapeConfigs(configs controller.Namespaces) *part {
	p := &part{name: "ScrapeConfigs", version: v1alpha1.SchemeGroupVersion.String(), resource: v1alpha1.ScrapeConfigResource}
	for _, namespace := range configs.Watches() {
		for _, verb := range []string{"list", "watch"} {
			p.needs = append(p.needs, access{v1alpha1.GroupName, v1alpha1.ScrapeConfigResource, verb, namespace})
		}
	}
	return p
}

// lack is what a part needs and does not have.
type lack struct {
	kind   bool     // the kind is not installed
	rights []string // for people
}

// String is for people.
func (l *lack) String() string {
	if l.kind {
		return "the kind is not installed"
	}
	return "no permission to " + strings.Join(l.rights, ", ")
}

// missing returns nil when the part can start.
func (p *part) missing(ctx context.Context, kube kubernetes.Interface) (*lack, error) {
	installed, err := serves(kube, p.version, p.resource)
	if err != nil {
		return nil, err
	}
	if !installed {
		return &lack{kind: true}, nil
	}
	rights, err := denied(ctx, kube, p.needs)
	if err != nil || len(rights) == 0 {
		return nil, err
	}
	return &lack{rights: rights}, nil
}

// warn says what is missing, once, and decides when to look again.
func (p *part) warn(log *slog.Logger, l *lack) {
	p.again = time.Now().Add(lookForKinds)
	if !l.kind {
		p.again = time.Now().Add(lookForRights)
	}
	if text := l.String(); text != p.told {
		p.told = text
		log.Warn("a part is not started", "part", p.name, "resource", p.resource, "version", p.version, "reason", text)
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

// serves reports whether the API server has a resource.
func serves(kube kubernetes.Interface, groupVersion, resource string) (bool, error) {
	list, err := kube.Discovery().ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the resources of %s: %w", groupVersion, err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }), nil
}
