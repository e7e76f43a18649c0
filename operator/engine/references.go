package engine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// references are the Secrets and ConfigMaps to which workloads and selected objects may refer. Only
// their metadata is cached by the stores.
type references struct {
	secrets, configMaps *informer.Store[*metav1.PartialObjectMetadata]
	cache               *assets.Cache
}

// references returns the references in some namespaces. Kinds with the same namespaces share them.
func (s *Sources) references(namespaces informer.Namespaces) *references {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := namespaces.String()
	if s.refs[key] == nil {
		s.refs[key] = s.newReferences(namespaces)
	}
	return s.refs[key]
}

func (s *Sources) newReferences(namespaces informer.Namespaces) *references {
	out := &references{}
	watch := s.watch(namespaces, s.scopes.SecretLabels)
	watch.FieldSelector, watch.Poll = s.scopes.SecretFields, s.referredPoll(out, assets.Secret)
	out.secrets = informer.NewMetadataStore(s.clients.Metadata, corev1.SchemeGroupVersion.WithResource("secrets"), watch)
	watch.LabelSelector, watch.FieldSelector = s.scopes.ConfigMapLabels, s.scopes.ConfigMapFields
	watch.Poll = s.referredPoll(out, assets.ConfigMap)
	out.configMaps = informer.NewMetadataStore(s.clients.Metadata, corev1.SchemeGroupVersion.WithResource("configmaps"), watch)
	out.cache = assets.NewCache(s.clients.Kube, out).Within(inflight.Memory() / budget.ReferredShare)
	return out
}

// store returns the store of a kind.
func (r *references) store(kind assets.Kind) *informer.Store[*metav1.PartialObjectMetadata] {
	if kind == assets.ConfigMap {
		return r.configMaps
	}
	return r.secrets
}

// Seen implements assets.Seer.
func (r *references) Seen(ref assets.Ref, version string) {
	about := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name, ResourceVersion: version}}
	r.store(ref.Kind).Note(about)
}

// Version implements assets.Versions.
func (r *references) Version(ref assets.Ref) (version string, known bool) {
	store := r.store(ref.Kind)
	if obj, ok := store.Get(ref.Namespace, ref.Name); ok {
		return obj.ResourceVersion, true
	}
	return "", store.Missing(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
}

// referenceReader reads Secrets and ConfigMaps for one reconciliation. Each object is recorded as a
// reference of the workload before it is read. As an event follows the update of the store, either
// the event finds the workload or the workload finds the object.
type referenceReader struct {
	c     *Controller
	state *memory
	next  assets.Reader
	// looked holds the lookups of unwatched objects, see named.go.
	looked map[lookup]found
}

func (c *Controller) newReferenceReader(ctx context.Context, state *memory) referenceReader {
	return referenceReader{c, state, c.assets.Reader(ctx), map[lookup]found{}}
}

// paced returns the same with a limit for the reads of each namespace.
func (a referenceReader) paced(ctx context.Context, p *assets.Pace) referenceReader {
	a.next = a.c.assets.Paced(ctx, p)
	return a
}

// Object implements assets.Reader.
func (a referenceReader) Object(ref assets.Ref) (assets.Object, error) {
	a.note(ref)
	o, err := a.next.Object(ref)
	if err == nil {
		a.state.reached.Add(1)
	}
	return o, err
}

// current reports whether earlier compiled results, of this workload or another, are still valid.
func (a referenceReader) current(deps []assets.Dependency) bool {
	refs := make([]assets.Ref, len(deps))
	for i, d := range deps {
		refs[i] = d.Ref
	}
	a.note(refs...)
	current := a.c.assets.Current(deps)
	if current {
		a.state.reached.Add(int64(len(deps)))
	}
	return current
}

func (a referenceReader) note(refs ...assets.Ref) {
	if len(refs) == 0 {
		return
	}
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if a.state.references == nil {
		a.state.references = map[assets.Ref]bool{}
	}
	for _, ref := range refs {
		a.state.references[ref] = true
	}
}

// noteWritten records the objects that the plan of a workload writes and those of live, for polling them by name.
func (c *Controller) noteWritten(state *memory, plan *Plan, live Live) {
	refs := map[assets.Ref]bool{}
	for _, o := range live.Secrets {
		refs[assets.Ref{Kind: assets.Secret, Namespace: o.Namespace, Name: o.Name}] = true
	}
	for _, o := range live.ConfigMaps {
		refs[assets.Ref{Kind: assets.ConfigMap, Namespace: o.Namespace, Name: o.Name}] = true
	}
	for _, s := range plan.Content {
		if s.Verb == apply.Remove {
			continue
		}
		switch o := s.Object.(type) {
		case *corev1.Secret:
			refs[assets.Ref{Kind: assets.Secret, Namespace: o.Namespace, Name: o.Name}] = true
		case *corev1.ConfigMap:
			refs[assets.Ref{Kind: assets.ConfigMap, Namespace: o.Namespace, Name: o.Name}] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	state.written = refs
}

// lastWritten returns the objects that the last plan of the workload writes; nil without a plan. They must not be modified.
func (c *Controller) lastWritten(state *memory) map[assets.Ref]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return state.written
}

// keepReferences drops the references that the workload no longer has. After a failed
// reconciliation all are kept: it may have ended before it reached them.
func (c *Controller) keepReferences(state *memory, in Inputs, failed error) {
	if failed != nil {
		return
	}
	refs := map[assets.Ref]bool{}
	for r := range in.References() {
		refs[r] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	state.references = refs
}

// referencing returns the workloads that refer to an object.
func (c *Controller) referencing(ref assets.Ref) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	for key, s := range c.memory {
		if s.references[ref] {
			out = append(out, key)
		}
	}
	return out
}

// recheckPeriod is the pause between checks for references that are due for another read.
const recheckPeriod = 15 * time.Second

// recheck wakes the workloads with unwatched references or named objects that are due.
func (c *Controller) recheck() {
	for _, ref := range c.assets.Due() {
		for _, key := range c.referencing(ref) {
			c.loop.enqueue(key)
		}
	}
	for _, key := range c.namedDue(time.Now()) {
		c.loop.enqueue(key)
	}
}

// granted wakes the workloads of a namespace and those with references there that were forbidden.
func (c *Controller) granted(namespace string) {
	keys := map[types.NamespacedName]bool{}
	for _, ref := range c.assets.Retry(namespace) {
		for _, key := range c.referencing(ref) {
			keys[key] = true
		}
	}
	for w := range c.managed() {
		if key := catalog.KeyOf(w); namespace == "" || key.Namespace == namespace {
			keys[key] = true
		}
	}
	for key := range keys {
		c.loop.enqueue(key)
	}
}
