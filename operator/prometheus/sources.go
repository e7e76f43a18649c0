package prometheus

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// Sources are what the controllers of both kinds read: monitors, namespaces,
// what is referred to, and what all of it was compiled to. They are shared, so
// that nothing is listed, held or compiled twice.
type Sources struct {
	services   *informer.Store[*v1.ServiceMonitor]
	pods       *informer.Store[*v1.PodMonitor]
	probes     *informer.Store[*v1.Probe]
	namespaces *informer.Store[*corev1.Namespace]
	secretRefs *informer.Store[*metav1.PartialObjectMetadata]
	configRefs *informer.Store[*metav1.PartialObjectMetadata]
	// Objects that owners of both kinds have, told apart by owner reference.
	ownSecrets  *informer.Store[*corev1.Secret]
	ownServices *informer.Store[*corev1.Service]
	runningPods *informer.Store[*corev1.Pod]
	claims      *informer.Store[*corev1.PersistentVolumeClaim] // nil: left alone

	assets    *assets.Cache
	compilers *Compilers
	bindings  *bindings.Writer
	chunks    document.Chunks // of all configurations
	calls     informer.Calls

	newScrapes func() *informer.Store[*v1alpha1.ScrapeConfig]
	mu         sync.RWMutex
	scrapes    *informer.Store[*v1alpha1.ScrapeConfig] // guarded; nil as long as the kind is not read
	readers    []*Controller                           // guarded: those that handle events
	workloads  []workloads                             // guarded
}

const (
	managedSelector  = "managed-by in (prometheus-operator)"
	podSelector      = "app.kubernetes.io/managed-by=prometheus-operator,operator.prometheus.io/name"
	operatedSelector = "operated-prometheus"
)

// NewSources returns the sources. Nothing is contacted before a controller runs.
func NewSources(clients Clients, s Scopes) *Sources {
	out := &Sources{}
	base := informer.Watch{Calls: &out.calls, Reads: clients.Reads}
	own, config := s.instances(base), s.configs(base)
	core, crds := clients.Kube.CoreV1().RESTClient(), clients.V1.REST()
	out.services = informer.NewStore(crds, v1.ServiceMonitorResource, &v1.ServiceMonitor{}, config, nil)
	out.pods = informer.NewStore(crds, v1.PodMonitorResource, &v1.PodMonitor{}, config, nil)
	out.probes = informer.NewStore(crds, v1.ProbeResource, &v1.Probe{}, config, nil)
	out.newScrapes = func() *informer.Store[*v1alpha1.ScrapeConfig] {
		return informer.NewStore(clients.V1alpha1.REST(), v1alpha1.ScrapeConfigResource, &v1alpha1.ScrapeConfig{}, config, nil)
	}
	if clients.ScrapeConfigs {
		out.scrapes = out.newScrapes()
	}
	out.namespaces = informer.NewStore(core, "namespaces", &corev1.Namespace{}, s.namespaceWatch(base), trimNamespace)
	refs := base
	refs.Namespaces, refs.FieldSelector, refs.LabelSelector = s.References, s.SecretFields, s.SecretLabels
	out.secretRefs = informer.NewMetadataStore(clients.Metadata, corev1.SchemeGroupVersion.WithResource("secrets"), refs)
	refs.FieldSelector, refs.LabelSelector = s.ConfigMapFields, s.ConfigMapLabels
	out.configRefs = informer.NewMetadataStore(clients.Metadata, corev1.SchemeGroupVersion.WithResource("configmaps"), refs)
	out.ownSecrets = informer.NewStore(core, "secrets", &corev1.Secret{}, own(managedSelector), apply.DigestSecret)
	operated, pods := own(operatedSelector), own(podSelector)
	operated.Poll, pods.Poll = out.servicePoll(), out.podPoll()
	out.ownServices = informer.NewStore(core, "services", &corev1.Service{}, operated, nil)
	out.runningPods = informer.NewStore(core, "pods", &corev1.Pod{}, pods, trimPod)
	if clients.Claims {
		out.claims = informer.NewStore(core, "persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, own(podSelector), trimClaim)
	}

	out.assets = assets.NewCache(clients.Kube, out)
	out.bindings = newBindingsWriter(clients)
	out.compilers = newCompilers()
	return out
}

func (s *Sources) all() []informer.Syncer {
	out := []informer.Syncer{
		s.namespaces, s.services, s.pods, s.probes, s.secretRefs, s.configRefs, s.ownSecrets, s.ownServices, s.runningPods,
	}
	if scrapes := s.scrapeConfigs(); scrapes != nil {
		out = append(out, scrapes)
	}
	if s.claims != nil {
		out = append(out, s.claims)
	}
	return out
}

// scrapeConfigs is the store of ScrapeConfigs, nil as long as they are not read.
func (s *Sources) scrapeConfigs() *informer.Store[*v1alpha1.ScrapeConfig] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.scrapes
}

// ReadScrapeConfigs starts to read ScrapeConfigs, for a kind that was installed
// after the operator started. Owners that select any are reconciled.
//
// Errors: the kind could not be listed.
func (s *Sources) ReadScrapeConfigs(ctx context.Context) error {
	scrapes := s.newScrapes()
	if err := fill(ctx, []informer.Syncer{scrapes}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scrapes = scrapes
	for _, c := range s.readers {
		if err := configChanged(c, scrapes, v1alpha1.ScrapeConfigKind); err != nil {
			return cmp.Or(ctx.Err(), err) // a store that was stopped takes no handlers
		}
	}
	return nil
}

// connectScrapeConfigs lets a controller handle their events, now or as soon as
// they are read.
func (s *Sources) connectScrapeConfigs(c *Controller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, c)
	if s.scrapes == nil {
		return nil
	}
	return configChanged(c, s.scrapes, v1alpha1.ScrapeConfigKind)
}

// Version implements assets.Versions.
func (s *Sources) Version(ref assets.Ref) (version string, known bool) {
	store := s.secretRefs
	if ref.Kind == assets.ConfigMap {
		store = s.configRefs
	}
	if obj, ok := store.Get(ref.Namespace, ref.Name); ok {
		return obj.ResourceVersion, true
	}
	return "", store.Complete(ref.Namespace)
}

func (s *Sources) namespaceLabels(name string) (labels.Set, bool) {
	ns, ok := s.namespaces.Get("", name)
	if !ok {
		return nil, false
	}
	return ns.Labels, true
}

// namespaceTerminating reports whether a namespace is being deleted.
func (s *Sources) namespaceTerminating(name string) bool {
	ns, ok := s.namespaces.Get("", name)
	return ok && ns.DeletionTimestamp != nil
}

// fill starts stores that do not run yet and waits until they are complete. They
// stay current until the context ends.
func fill(ctx context.Context, stores []informer.Syncer) error {
	for _, st := range stores {
		st.Run(ctx)
	}
	for _, st := range stores {
		if err := st.Wait(ctx); err != nil {
			return fmt.Errorf("sync caches: %w", err)
		}
	}
	return nil
}
