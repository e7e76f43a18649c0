package commands

import (
	"time"

	"github.com/Masterminds/semver/v3"
	promclient "github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/informercache"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/web"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
)

// grantsTargets explains how to grant the permission to read the objects of service discovery.
const grantsTargets = "the component http-api, or rbac.httpAPI of the chart, grants it"

// Time that a preview waits for reads of the objects of service discovery, and for access reviews
// of a ServiceAccount.
const (
	previewPatience = 5 * time.Second
	reviewPatience  = 2 * time.Second
)

// apiReader provides the state of the cluster to the HTTP API and its pages. It is nil without an HTTP
// API.
type apiReader struct {
	*informercache.Cluster
	targets *livetargets.Source
}

// apiReader returns the provider for the HTTP API. It reads the caches of the controllers, and follows
// targets on demand over a separate connection, so that missing permissions affect nothing else.
func (o *Options) apiReader(cfg *rest.Config, version *semver.Version, scopes engine.Scopes, p process) (*apiReader, error) {
	if o.API == web.Off {
		return nil, nil
	}
	kube, err := kubernetes.NewForConfig(compact(cfg))
	if err != nil {
		return nil, err
	}
	own, _, err := o.setups(version) // not those of the controllers, since kinds cache compiled objects
	if err != nil {
		return nil, err
	}
	options, err := o.prometheus(version)
	if err != nil {
		return nil, err
	}
	caches := informercache.New()
	groups, err := groupsOf(kube, cfg, scopes)
	if err != nil {
		return nil, err
	}
	out := &apiReader{caches, &livetargets.Source{Reader: caches, Setups: own, Scopes: scopes, Options: options, Groups: groups, Denied: grantsTargets,
		Permissions: lister.Cluster{Kube: kube, Who: "the operator"}, Log: p.log}}
	p.reg.MustRegister(promclient.Collector(out.targets))
	p.api.Answer(insight.New(insight.Parts{
		Reader: caches, Setups: own, Scopes: scopes, Options: options, Targets: out.targets,
		Loaded: caches.Loaded, Timeline: caches.Timeline, Memory: inflight.Process(),
		Fresh: func() ([]engine.Setup, error) {
			fresh, _, err := o.setups(version)
			return fresh, err
		},
		Finder: func(r readers.Reader, over *discovery.Objects) preview.Finder {
			found := livetargets.Finder{Groups: groups, Denied: grantsTargets, Applied: over, Patience: previewPatience}
			permitted := livetargets.Permitted{Finder: found, Source: out.targets, Patience: reviewPatience}
			if c, is := r.(*overlay.Cluster); is && c.Grants() {
				permitted.Unknown = "Roles or bindings are among the manifests"
			}
			return permitted
		},
	}))
	return out, nil
}

// groupsOf returns the target groups of a cluster, for discoveries in the namespaces that objects are read in.
func groupsOf(kube kubernetes.Interface, cfg *rest.Config, scopes engine.Scopes) (*watch.Cluster, error) {
	lists, err := watch.From(kube, compact(cfg))
	if err != nil {
		return nil, err
	}
	return &watch.Cluster{Lists: lists, Namespaces: listed(scopes)}, nil
}

// listed returns the namespaces to list one by one, or nil to list across all namespaces.
func listed(s engine.Scopes) []string {
	all := s.Configs.Union(s.Instances)
	if all.All() {
		return nil
	}
	return all.Watches()
}

// watch adds the caches of a controller once they have synced.
func (k *apiReader) watch(s *engine.Setup, controller func() *engine.Controller) {
	if k == nil {
		return
	}
	synced := s.Synced
	s.Changed = k.Changed
	s.Synced = func() {
		k.Add(s.Row, controller())
		synced()
	}
}

// events returns a recorder that also keeps the last sent Events for display.
func (k *apiReader) events(sent func(component string) events.EventRecorder) func(component string) events.EventRecorder {
	if k == nil || sent == nil {
		return sent
	}
	return func(component string) events.EventRecorder { return k.Events.Recorder(component, sent(component)) }
}

// close stops following targets.
func (k *apiReader) close() {
	if k != nil {
		k.targets.Close()
	}
}
