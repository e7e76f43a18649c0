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
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// part is a controller, or something else of the operator, that starts once its CRDs
// are installed and its permissions granted.
type part struct {
	name  string // for people
	kinds []kind // that must be installed
	needs []access
	start func() error

	told  string    // what was last logged as missing
	mute  bool      // the last check failed, which was logged
	again time.Time // no check before
}

// kind is a resource in a version of our API group.
type kind struct {
	version  schema.GroupVersion
	resource string
}

// selectedBy are the kinds that owners select. A controller cannot work without
// them, except the youngest, ScrapeConfigs.
func selectedBy(owners *prometheus.Kind) (out []kind) {
	resources := []string{v1.ServiceMonitorResource, v1.PodMonitorResource, v1.ProbeResource}
	if owners == prometheus.Servers {
		resources = append(resources, v1.PrometheusRuleResource)
	}
	for _, resource := range resources {
		out = append(out, kind{v1.SchemeGroupVersion, resource})
	}
	return out
}

// ownersOf is the controller of a kind of owner.
func ownersOf(owners *prometheus.Kind, scopes prometheus.Scopes) *part {
	return &part{
		name:  owners.Component,
		kinds: append([]kind{{owners.GroupVersion(), owners.Resource}}, selectedBy(owners)...),
		needs: required(owners, scopes),
	}
}

// scrapeConfigs is the reading of ScrapeConfigs. The kind is younger than the
// others, so clusters without it are common.
func scrapeConfigs(configs informer.Namespaces) *part {
	return &part{
		name:  "ScrapeConfigs",
		kinds: []kind{{v1alpha1.SchemeGroupVersion, v1alpha1.ScrapeConfigResource}},
		needs: accesses(v1alpha1.GroupName, v1alpha1.ScrapeConfigResource, configs.Watches(), "list", "watch"),
	}
}

// lack is what a part needs and does not have, for people.
type lack struct {
	kinds  []string // not installed
	rights []access // checked when all kinds are installed
	barred []string // namespaces without any permission; rights are those of others
}

// lackOf says which of the needs are missing.
func lackOf(needs, missing []access) *lack {
	count := map[string]int{}
	for _, a := range needs {
		count[a.namespace]++
	}
	for _, a := range missing {
		count[a.namespace]--
	}
	out := &lack{}
	for _, a := range missing {
		switch {
		case a.namespace == "" || count[a.namespace] > 0:
			out.rights = append(out.rights, a)
		case !slices.Contains(out.barred, a.namespace):
			out.barred = append(out.barred, a.namespace)
		}
	}
	return out
}

// String is for people.
func (l *lack) String() string {
	if len(l.kinds) > 0 {
		return "not installed: " + strings.Join(l.kinds, ", ")
	}
	var texts []string
	if len(l.barred) > 0 {
		texts = append(texts, "no permissions in namespace "+strings.Join(l.barred, ", ")+" (do the namespace, the Role and its RoleBinding exist?)")
	}
	if len(l.rights) > 0 {
		texts = append(texts, "no permission to "+summary(l.rights))
	}
	return strings.Join(texts, "; ")
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
	return lackOf(p.needs, rights), nil
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

// resources are those that the API server has in a version; none when it does not
// serve that.
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

// warn logs what is missing, once, and schedules the next check.
func (p *part) warn(log *slog.Logger, l *lack) {
	p.again = time.Now().Add(lookForKinds)
	if len(l.kinds) == 0 {
		p.again = time.Now().Add(lookForRights)
	}
	if text := l.String(); text != p.told {
		p.told = text
		log.Warn("controller not started: CRDs or permissions missing", "component", p.name, "reason", text)
	}
}

const (
	// lookForKinds is the pause between checks for a missing CRD: one request that
	// every account may make.
	lookForKinds = 10 * time.Second
	// lookForRights is the pause between checks for permissions: one request for each.
	lookForRights = time.Minute
)

// awaitParts starts each part once its CRDs and permissions exist, until none is left.
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
			p.mute = p.mute && err != nil
			switch {
			case err != nil:
				if ctx.Err() == nil && !p.mute {
					p.mute = true
					log.Warn("cannot check for CRDs and permissions, retrying", "component", p.name, "err", err)
				}
				return false
			case lacking != nil:
				p.warn(log, lacking)
				return false
			}
			log.Info("controller started", "component", p.name)
			run(p.start)
			return true
		})
	}
}
