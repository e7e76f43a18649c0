package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// Clients give the controllers access to the cluster.
type Clients struct {
	Kube     kubernetes.Interface
	Metadata metadata.Interface
	// Content (optional) is a client for Secrets and ConfigMaps that returns [apply.DigestValue] of their values.
	Content rest.Interface
	// CRDs are the clients of the versions of our group.
	CRDs map[schema.GroupVersion]*client.Client
	// Absent are selectable kinds that are not installed or forbidden. Those that are not installed
	// are ignored until [Sources.Read].
	Absent []*catalog.Row
	// Forbidden (optional) returns why a kind in Absent is forbidden although it is installed, or
	// empty if it is not installed. Workloads that select a forbidden kind are left unchanged.
	Forbidden func(*catalog.Row) string
	// Claims enables expanding PersistentVolumeClaims; otherwise they are not read.
	Claims bool
	// Reads logs failing lists and watches; nil for no logging.
	Reads *informer.Reads
	// May (optional) reports whether core objects may be listed or watched, in all namespaces if
	// namespace is empty. Without it, the requests are tried.
	May func(ctx context.Context, resource, verb, namespace string) (bool, error)
	// Events returns the event recorder of a component; if nil, no Events are sent.
	Events func(component string) events.EventRecorder
}

// content returns the client for the operator's own Secrets and ConfigMaps.
func (c Clients) content() rest.Interface {
	if c.Content != nil {
		return c.Content
	}
	return c.Kube.CoreV1().RESTClient()
}

func (c Clients) of(row *catalog.Row) *client.Client { return c.CRDs[row.GroupVersion()] }

// may returns May for one resource; nil without May.
func (c Clients) may(resource string) func(ctx context.Context, verb, namespace string) (bool, error) {
	if c.May == nil {
		return nil
	}
	return func(ctx context.Context, verb, namespace string) (bool, error) {
		return c.May(ctx, resource, verb, namespace)
	}
}

// Scopes are the namespaces and selectors of watches that all kinds of workloads share.
type Scopes struct {
	Instances informer.Namespaces // workloads of all kinds
	Configs   informer.Namespaces // objects that workloads select
	// Of overrides Configs for some kinds.
	Of map[*catalog.Row]informer.Namespaces

	SecretFields, SecretLabels       string // selectors that narrow the watch on referenced Secrets
	ConfigMapFields, ConfigMapLabels string // the same for ConfigMaps
}

// For returns the namespaces of a selectable kind.
func (s Scopes) For(row *catalog.Row) informer.Namespaces {
	if own, ok := s.Of[row]; ok {
		return own
	}
	return s.Configs
}

// SelectedBy returns the namespaces of all kinds that workloads of a kind select.
func (s Scopes) SelectedBy(k *Kind) informer.Namespaces {
	out := s.For(k.Selects[0].Row)
	for _, row := range k.Selects[1:] {
		out = out.Union(s.For(row.Row))
	}
	return out
}

// Sources are the objects that the controllers read: selected objects, namespaces, referenced
// objects, and objects of workloads of several kinds. They are shared to avoid listing or caching
// anything twice.
type Sources struct {
	clients    Clients
	scopes     Scopes
	namespaces *informer.Store[*corev1.Namespace]
	bindings   *bindings.Writer
	calls      informer.Calls
	pace       flowcontrol.RateLimiter // of reads of Secrets and ConfigMaps by name
	stored     *capacity.Capacity      // of workloads and selected objects
	held       held                    // results cached by reconciliations
	selections selections

	mu      sync.RWMutex
	absent  []*catalog.Row                             // guarded
	configs map[string]*informer.Store[catalog.Object] // guarded: by kind
	owned   map[string]informer.Syncer                 // guarded: by watch
	refs    map[string]*references                     // guarded: by namespaces
	readers []*Controller                              // guarded: those that handle events
	joined  []*Controller                              // guarded: all
}

// NewSources returns the sources. It sends no requests; controllers do when they run.
func NewSources(clients Clients, s Scopes) *Sources {
	out := &Sources{
		clients: clients, scopes: s, absent: slices.Clone(clients.Absent),
		configs: map[string]*informer.Store[catalog.Object]{}, owned: map[string]informer.Syncer{},
		refs: map[string]*references{}, pace: flowcontrol.NewTokenBucketRateLimiter(namedRate, namedRate),
		stored: capacity.New(inflight.Memory() / budget.StoredShare),
		held:   held{ledger: share.Ledger[holder]{Room: int(inflight.Memory() / budget.HeldShare)}},
	}
	out.selections.current = out.selectionInput
	core := clients.Kube.CoreV1().RESTClient()
	out.namespaces = informer.NewStore(core, "namespaces", &corev1.Namespace{}, out.namespaceWatch(), trimNamespace)
	out.bindings = apply.Bindings(clients.CRDs)
	return out
}

// watch returns a watch whose calls count for every controller.
func (s *Sources) watch(namespaces informer.Namespaces, labels string) informer.Watch {
	return informer.Watch{Calls: &s.calls, Reads: s.clients.Reads, Namespaces: namespaces, LabelSelector: labels}
}

// namespaceWatch returns a watch of the namespaces whose labels matter.
func (s *Sources) namespaceWatch() informer.Watch {
	all, err := informer.NewNamespaces(nil, nil)
	if err != nil {
		panic(err) // no list, no conflict
	}
	scope := s.scopes.Configs.Union(s.scopes.Instances)
	for _, of := range s.scopes.Of {
		scope = scope.Union(of)
	}
	out := s.watch(all, scope.NameSelector())
	out.Poll = s.clients.namespacePoll(scope)
	return out
}

// owned returns the store of one resource that belongs to workloads. Kinds with identical watches share it.
func owned[T informer.Object](s *Sources, api cache.Getter, resource string, example T, w informer.Watch, keep func(T) T) *informer.Store[T] {
	key := resource + "|" + w.LabelSelector + "|" + w.Namespaces.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.owned[key].(*informer.Store[T]); ok {
		return have
	}
	out := informer.NewStore(api, resource, example, w, keep)
	s.owned[key] = out
	return out
}

// config returns the store of a selectable kind, nil while it is absent.
func (s *Sources) config(row *catalog.Row) *informer.Store[catalog.Object] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.absent, row) {
		return nil
	}
	if s.configs[row.Kind] == nil {
		s.configs[row.Kind] = s.newConfig(row)
	}
	return s.configs[row.Kind]
}

func (s *Sources) newConfig(row *catalog.Row) *informer.Store[catalog.Object] {
	w := s.watch(s.scopes.For(row), "")
	w.Bounds = s.bounds(row)
	return informer.NewStore(s.clients.of(row).REST(), row.Resource, row.New(), w, nil)
}

// bounds returns the memory bounds for the objects of a kind; all kinds share one capacity.
func (s *Sources) bounds(row *catalog.Row) *informer.Bounds {
	c := s.clients.of(row)
	return &informer.Bounds{
		Capacity: s.stored, Kind: row.Kind, Compiles: row.Field != "",
		Page: func(ctx context.Context, namespace string, o metav1.ListOptions, most int64) (runtime.Object, int64, error) {
			return c.Page(ctx, row.Resource, namespace, o, most)
		},
		Read: func(ctx context.Context, name types.NamespacedName) (runtime.Object, error) {
			return c.Read(ctx, row.Resource, name)
		},
	}
}

// objects iterates over the objects of a kind in order; nil while it is not read.
func (s *Sources) objects(kind string) iter.Seq[catalog.Object] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if store := s.configs[kind]; store != nil {
		return store.Sorted()
	}
	return nil
}

// allNamespaces iterates over the namespaces and their labels.
func (s *Sources) allNamespaces(yield func(string, labels.Set) bool) {
	for ns := range s.namespaces.Sorted() {
		if !yield(ns.Name, ns.Labels) {
			return
		}
	}
}

// selectionInput identifies the objects of a kind and the labels of the namespaces.
func (s *Sources) selectionInput(kind string) selectionInput {
	s.mu.RLock()
	defer s.mu.RUnlock()
	store := s.configs[kind]
	if store == nil {
		return selectionInput{}
	}
	return selectionInput{store, store.Version(), s.namespaces.Version()}
}

// Read starts to read a kind that was absent. Workloads that select the kind are reconciled.
//
// Errors: the kind could not be listed.
func (s *Sources) Read(ctx context.Context, row *catalog.Row) error {
	store := s.newConfig(row)
	if err := fill(ctx, []informer.Syncer{store}); err != nil {
		return err
	}
	if err := s.add(ctx, row, store); err != nil {
		return err
	}
	for _, c := range s.controllers() {
		c.readable(row)
	}
	return nil
}

// add registers the store of a kind with the controllers.
func (s *Sources) add(ctx context.Context, row *catalog.Row, store *informer.Store[catalog.Object]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configs[row.Kind] = store
	s.absent = slices.DeleteFunc(s.absent, func(r *catalog.Row) bool { return r == row })
	for _, c := range s.readers {
		if c.kind.SelectsBy(row.Kind).Row != nil {
			if err := c.handleConfig(row.Kind, store); err != nil {
				return cmp.Or(ctx.Err(), err) // a stopped store rejects handlers
			}
		}
	}
	return nil
}

// forbidden returns why a kind is forbidden although it is installed; empty for others.
func (s *Sources) forbidden(row *catalog.Row) string {
	s.mu.RLock()
	absent := slices.Contains(s.absent, row)
	s.mu.RUnlock()
	if !absent || s.clients.Forbidden == nil {
		return ""
	}
	return s.clients.Forbidden(row)
}

// connect lets a controller handle the events of the objects that it selects, now or as soon as
// they are read.
func (s *Sources) connect(c *Controller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, c)
	for _, row := range c.kind.Selects {
		if store := s.configs[row.Kind]; store != nil {
			if err := c.handleConfig(row.Kind, store); err != nil {
				return err
			}
		}
	}
	return nil
}

// join registers a controller with the sources, for polling objects by the names of its workloads.
func (s *Sources) join(c *Controller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined = append(s.joined, c)
}

func (s *Sources) controllers() []*Controller {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.joined)
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

// Granted retries everything that may have failed for lack of a permission in a namespace, or in
// all if it is empty.
func (s *Sources) Granted(namespace string) {
	for _, c := range s.controllers() {
		c.granted(namespace)
	}
}

// fill starts stores that are not running yet and waits until they are complete. They stay current
// until the context ends.
func fill(ctx context.Context, stores []informer.Syncer) error {
	for _, st := range stores {
		st.Run(ctx)
	}
	return fillWait(ctx, stores...)
}

// fillWait waits for stores that are already started.
func fillWait(ctx context.Context, stores ...informer.Syncer) error {
	for _, st := range stores {
		if err := st.Wait(ctx); err != nil {
			return fmt.Errorf("sync caches: %w", err)
		}
	}
	return nil
}
