package manifests

import (
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Objects are the manifests that are relevant to the operator.
type Objects struct {
	// Kinds are the kinds of workloads that the operator runs.
	Kinds      []*engine.Kind
	References assets.Static // the Secrets and ConfigMaps
	// Ignored counts manifests of kinds that the operator does not use.
	Ignored map[string]int
	// Unbuilt are kustomizations that change objects. The objects are read without these changes.
	Unbuilt []string
	// Changed are the files whose objects they change.
	Changed []string
	// Skipped counts documents in folders that are not meant to be manifests.
	Skipped int
	// SkippedAt are the files of skipped documents, beginning with those that name our API.
	SkippedAt []string
	// SkippedOurs is the number of files in SkippedAt that name our API.
	SkippedOurs int
	// AssumeNamespaces assumes that a namespace that is not among the manifests has the labels that
	// a workload selects, if only one workload could select it.
	AssumeNamespaces bool
	// Scope limits the objects to those that the operator manages.
	Scope Scope

	byRow      map[*catalog.Row][]catalog.Object // in the order of the input
	namespaces map[string]labels.Set
	places     map[string]Place   // by place()
	versions   map[string]version // of converted objects, by place()

	promises promises // of Secrets and ConfigMaps that manifests generate

	native       []Native
	nativePlaces map[string]Place // by place()

	shared *dryrun.Shared // see Share
	// inOrder are the objects of each row, sorted; see sorted.
	inOrder map[*catalog.Row][]catalog.Object
}

func newObjects(kinds []*engine.Kind) *Objects {
	return &Objects{
		Kinds: kinds, Ignored: map[string]int{}, byRow: map[*catalog.Row][]catalog.Object{}, inOrder: map[*catalog.Row][]catalog.Object{},
		namespaces: map[string]labels.Set{}, places: map[string]Place{},
		versions: map[string]version{}, nativePlaces: map[string]Place{}, promises: newPromises(),
	}
}

// New returns empty Objects for workloads of the kinds.
func New(kinds []*engine.Kind) *Objects { return newObjects(kinds) }

// Only returns Objects with a single object.
func Only(row *catalog.Row, object catalog.Object) *Objects {
	o := newObjects(nil)
	o.add(row, object)
	return o
}

// Alone returns Objects with a single object and its text, for the kinds of workloads that may use
// it.
func Alone(kinds []*engine.Kind, row *catalog.Row, object catalog.Object, text []byte) *Objects {
	o := newObjects(kinds)
	o.add(row, object)
	o.places[place(row.Kind, object.GetNamespace(), object.GetName())] = Place{Text: text}
	return o
}

// Add adds an object that was not read from a manifest.
func (o *Objects) Add(row *catalog.Row, object catalog.Object) { o.add(row, object) }

func (o *Objects) add(row *catalog.Row, object catalog.Object) {
	o.byRow[row] = append(o.byRow[row], object)
	delete(o.inOrder, row)
}

// All returns the objects of a row in the order of the input.
func (o *Objects) All(row *catalog.Row) []catalog.Object { return o.byRow[row] }

// Scope is the part of the objects that an operator manages; the zero value means all of them.
type Scope struct {
	// Unmanaged (optional) returns why the operator does not run a workload; empty when it does.
	Unmanaged func(dryrun.Workload) string
	// Watches (optional) returns the namespaces in which workloads may select objects.
	Watches func(row *catalog.Row) informer.Namespaces
}

// unmanaged returns why the operator does not run a workload; empty when it does.
func (s Scope) unmanaged(w dryrun.Workload) string {
	if s.Unmanaged == nil {
		return ""
	}
	return s.Unmanaged(w)
}

// Leaves returns the flag that excludes objects in a namespace; empty when workloads may select
// them.
func (s Scope) Leaves(row *catalog.Row, namespace string) string {
	if s.Watches == nil {
		return ""
	}
	if n := s.Watches(row); !n.Has(namespace) {
		return n.Flag()
	}
	return ""
}

// Workloads returns the workloads that the operator runs, sorted by namespace and name.
func (o *Objects) Workloads() (out []dryrun.Workload) {
	for w := range o.eachWorkload() {
		if o.Scope.unmanaged(w) == "" {
			out = append(out, w)
		}
	}
	return out
}

// Unmanaged iterates over the workloads that the operator does not run, with the reasons.
func (o *Objects) Unmanaged() iter.Seq2[dryrun.Workload, string] {
	return func(yield func(dryrun.Workload, string) bool) {
		for w := range o.eachWorkload() {
			if why := o.Scope.unmanaged(w); why != "" && !yield(w, why) {
				return
			}
		}
	}
}

// eachWorkload iterates over the workloads, sorted by namespace and name.
func (o *Objects) eachWorkload() iter.Seq[dryrun.Workload] {
	out := slices.Collect(o.unsortedWorkloads())
	slices.SortStableFunc(out, func(a, b dryrun.Workload) int {
		return strings.Compare(a.Key().String(), b.Key().String())
	})
	return slices.Values(out)
}

// unsortedWorkloads iterates over the workloads in the order of the input.
func (o *Objects) unsortedWorkloads() iter.Seq[dryrun.Workload] {
	return func(yield func(dryrun.Workload) bool) {
		for _, kind := range o.Kinds {
			for _, object := range o.byRow[kind.Row] {
				if !yield(dryrun.Workload{Kind: kind, Object: object.(v1.Workload)}) {
					return
				}
			}
		}
	}
}

// NamespaceLabels returns the labels of a namespace. One that is not among the manifests is assumed
// to exist with the name label that the API server sets.
func (o *Objects) NamespaceLabels(name string) (labels.Set, bool) {
	if set, ok := o.namespaces[name]; ok {
		return set, true
	}
	return labels.Set{corev1.LabelMetadataName: name}, true
}

// SetNamespace adds a namespace with its labels.
func (o *Objects) SetNamespace(name string, set labels.Set) { o.namespaces[name] = set }

// NamespaceUnknown reports whether a namespace is not among the manifests. It may then have more
// labels than [Objects.NamespaceLabels] returns.
func (o *Objects) NamespaceUnknown(name string) bool {
	_, given := o.namespaces[name]
	return !given
}

// Place returns the location of an object; the zero value when it was not read. The namespace is
// empty for cluster-scoped objects.
func (o *Objects) Place(kind, namespace, name string) Place {
	where := place(kind, namespace, name)
	if p, ok := o.places[where]; ok {
		return p
	}
	return o.nativePlaces[where]
}

// place returns the key of an object, "KIND NAMESPACE/NAME". Versions of a kind share it.
func place(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

// Len returns the number of objects that were read and that the operator uses.
func (o *Objects) Len() int { return len(o.places) }
