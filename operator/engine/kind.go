package engine

import (
	"io"
	"iter"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Kind describes one kind of workload to the engine.
type Kind struct {
	*catalog.Row
	Controller string // name in logs and Events: "prometheus-controller"
	Label      string // value of the metrics' label controller: "prometheus"
	Queue      string // name of the queue in its metrics: "prometheus"
	Program    string // human-readable name of the program whose versions the pods run: "Prometheus"

	// Names are the names of objects that belong to workloads of the kind.
	Names workload.Kind
	// StatefulSets and DaemonSets are label selectors of those of the kind. If DaemonSets is empty,
	// it has none.
	StatefulSets, DaemonSets string

	// Selects are the kinds of objects that a workload selects, in the order of reports.
	Selects []Selects
	// SelectsAtWill means that a workload may have all of its configuration without selected objects, so that it is not
	// reported if it selects none.
	SelectsAtWill bool
	// Shape returns what runs the pods of a workload and how to reach them.
	Shape func(w v1.Workload) Shape
	// Open returns a new gatherer for one workload.
	Open func(key types.NamespacedName) Gatherer
	// Ahead compiles expensive parts at startup; nil if there are none.
	Ahead *Ahead
	// Outside is the source that reconciliations read besides the cluster; nil if there is none.
	Outside *Outside
	// Gone drops the cached results of a deleted object of a selected kind.
	Gone func(kind string, object types.NamespacedName)
	// ChargeTo sets the function that accounts for the compiled size of selected objects.
	ChargeTo func(charge fragments.Charge)
	// Status returns the desired and the current status of a workload, in the kind's own type.
	Status func(w v1.Workload, s Status) (want, have any)
	// Gauges are metrics of workload settings besides the replicas.
	Gauges []Gauge
}

// nameLabel returns the label that names the workload on its StatefulSets, pods and PVCs.
func (k *Kind) nameLabel() string { return k.Names.NameLabels[0] }

// prefix returns the prefix of StatefulSet names: "prometheus-".
func (k *Kind) prefix() string { return k.Names.Prefix + "-" }

// Selects is one kind of objects that a workload selects.
type Selects struct {
	*catalog.Row
	// Of returns the selectors of namespaces and of objects.
	Of func(w v1.Workload) (namespaces, objects *metav1.LabelSelector)
	// Named (optional) returns objects that a workload uses by name for another purpose, such as
	// the base of its configuration. They are not selected, and their changes trigger a
	// reconciliation.
	Named func(w v1.Workload) []types.NamespacedName
	// Never (optional) returns why a workload cannot have these selectors, and what to do instead; empty if it can.
	Never func(w v1.Workload) string
	// Action is the action in Events about rejected objects.
	Action string
}

// Ahead is work that can be done before the first reconciliation.
type Ahead struct {
	Of      *catalog.Row // kind whose objects suffice for it
	Compile func(w v1.Workload, c Cluster)
}

// Gauge is a metric with the labels namespace and name of a workload.
type Gauge struct {
	Name, Help string
	// Value returns false for a workload without this setting.
	Value func(w v1.Workload) (float64, bool)
}

// Gatherer gathers for one workload. It caches results to make the next reconciliation cheap.
type Gatherer interface {
	// Gather reads the inputs of the workload. A rejected object is data, not an error. w is a copy
	// with its GroupVersionKind set.
	//
	// Errors: the workload is invalid, or an object it refers to itself is missing; the cluster
	// could not be read. The inputs are then partial.
	Gather(w v1.Workload, c Cluster) (Inputs, error)
	// Held returns the number of cached bytes that previous calls of Gather compiled.
	Held() int
	// Close ends its use and drops the workload's compiled results, including those compiled ahead.
	Close()
}

// Inputs is everything that a reconciliation read.
type Inputs interface {
	// Results returns the selected objects, those of a kind sorted by "namespace/name". Desired
	// may reject more of them if there is no room.
	Results() iter.Seq[fragments.Result]
	// References returns all Secrets and ConfigMaps that were looked up.
	References() iter.Seq[assets.Ref]
	// Desired computes the plan from the inputs. It is deterministic.
	//
	// Errors: a setting of the workload is invalid; nothing must be written.
	Desired() (Plan, error)
}

// Plan is the desired state of a reconciliation, written in this order: Content, the annotations of
// the pods, Workload.
type Plan struct {
	Content  []apply.Step // Secrets and ConfigMaps
	Workload []apply.Step // the Service and the objects that run the pods
	// Hash identifies everything in Content that reaches running pods.
	Hash string
	// Delivered is the content on the pods' disks once Content has reached them.
	Delivered delivery.Content
	// Withheld is the reason that there is no Content although Workload must be written.
	Withheld error
	// AwaitsPods is set if the next reconciliation can do more once pods have changed.
	AwaitsPods bool

	// Dropped lists the fields that were left out because the version does not support them, sorted.
	Dropped []gate.Dropped
	// Warnings are about settings that are not used as written, and other remarks for the log, sorted.
	Warnings []faults.Finding
	// Plain are files, as pods read them, that are not directly visible in the plan's objects: the
	// compressed configuration and its accompanying files.
	Plain []Plain
	// Reason and Message are for the condition Reconciled, empty if there is nothing to report.
	Reason, Message string
	// Deprecated are the deprecated fields in use.
	Deprecated []Deprecated

	growth
	service string // the fault of the governing Service, see [Controller.noteService]
}

// WriteConfig writes the configuration as the pods' program reads it; nothing if there is none.
//
// Errors: those of w; the configuration cannot be decompressed.
func (p *Plan) WriteConfig(w io.Writer) error {
	for _, file := range p.Plain {
		if file.Part == ConfigPart {
			return file.Text(w)
		}
	}
	return nil
}

// ConfigPart is the Part of the configuration in [Plain].
const ConfigPart = "config"

// Plain is a file as pods read it.
type Plain struct {
	Part string // [ConfigPart] or "rules"
	Name string
	Text func(w io.Writer) error
}

// Setup is a kind and the options of its controller.
type Setup struct {
	*Kind
	Options
}

// Shape has the properties of one workload that the engine needs without gathering.
type Shape struct {
	// Sets are the StatefulSets that should exist, in order; none for a workload with a DaemonSet.
	Sets []Set
	// DaemonSet is the name of the DaemonSet; empty for a workload with StatefulSets.
	DaemonSet string
	// Replicas is the number of pods per StatefulSet.
	Replicas int32
	// Service is the Service that gives the pods their names.
	Service Service
	// Selector are the labels of all pods.
	Selector map[string]string
	// Reloaders holds the endpoints of the pods' reloaders; no ports if they cannot be reached from
	// outside.
	Reloaders delivery.Pod
	// Server is the name of the workload's main container.
	Server string
}

// ShapeOf returns the shape of a workload with one StatefulSet. reloaders are the ports of the
// reloaders in a pod, which listen only inside the pod if the server does.
func ShapeOf(b *workload.Base, reloaders ...int) Shape {
	if b.Fields.ListenLocal {
		reloaders = nil
	}
	return Shape{
		Sets: []Set{{Name: b.PrefixedName()}}, Replicas: b.Replicas(),
		Service:  Service{Name: b.ServiceName(), Custom: b.CustomService(), Ports: b.ServicePorts()},
		Selector: b.SelectorLabels(), Server: b.Kind.Container,
		Reloaders: delivery.Pod{Scheme: b.Scheme(), Ports: reloaders},
	}
}

// set is one StatefulSet.
type Set struct {
	Name  string
	Title string // prefix of messages about its pods: "shard 0: "; may be empty
}

// Service is the Service of a workload's pods.
type Service struct {
	Name string
	// Custom is set if the user has created it; otherwise the workloads of a namespace share it.
	Custom bool
	// Ports are those that the workload needs in a shared Service; none if it uses no shared Service.
	Ports []corev1.ServicePort
}

// Shared reports whether the workload uses a shared Service.
func (s Service) Shared() bool { return len(s.Ports) > 0 }

// Peer is a workload of the same kind and namespace.
type Peer struct {
	v1.Workload
	Foreign bool // another operator is responsible for it
}

// Cluster is the source of a reconciliation's reads: informer stores in the operator, manifests
// when rendering without a cluster. Objects must not be modified.
type Cluster struct {
	// NamespaceLabels returns the labels of a namespace; ok is false if it is unknown.
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// Objects returns the objects of a kind sorted by "namespace/name" in byte order; nil if the
	// kind is not read.
	Objects func(kind string) iter.Seq[catalog.Object]
	// selections (optional) holds what workloads with equal selectors select, in namespaces.
	selections *selections
	namespaces iter.Seq2[string, labels.Set]
	// Named returns an object that a workload names, nil if it does not exist, even if the kind is
	// not watched. If Named is nil, Objects contains all of them.
	Named func(row *catalog.Row, name types.NamespacedName) (catalog.Object, error)
	// References resolves values in Secrets and ConfigMaps. It is used through an assets.Scope,
	// which distinguishes cluster failures from invalid references.
	References assets.Reader
	// Paced (optional) is the same for objects after a reconciliation that has compiled all: what it postpones, so that no
	// object waits for the many references of another, has an earlier result.
	Paced assets.Reader
	// Current reports whether the referenced values are unchanged.
	Current func([]assets.Dependency) bool
	// Renew (optional) reports whether a result of this size may be compiled again now because what it refers to in its
	// namespace has changed.
	Renew func(namespace string, bytes int) bool
	// Live are the existing objects of the workload.
	Live Live
	// SelectionOnly restricts the result to the results: references of the workload itself are read only
	// if results depend on them, and no plan is computed.
	SelectionOnly bool
	// Now is the time for deadlines.
	Now time.Time
}

// Live holds the existing objects of a workload and its surroundings.
type Live struct {
	StatefulSets map[string]*appsv1.StatefulSet // by name
	DaemonSet    *appsv1.DaemonSet              // nil if there is none
	Pods         []*corev1.Pod                  // as returned by trimPod
	// Claims are the PVCs of the pods; nil if PVCs are not managed.
	Claims []*corev1.PersistentVolumeClaim
	// ConfigMaps are the rule ConfigMaps.
	ConfigMaps []*corev1.ConfigMap
	// Secrets are the operator's Secrets whose names begin with that of the StatefulSet, by name and as returned by apply.DigestSecret.
	Secrets map[string]*corev1.Secret
	// Peers are the workloads of the kind in the namespace, with or without this one.
	Peers   []Peer
	sharing *sharing // of the peers; nil: not kept
	// Retained are the names of StatefulSets that are kept unchanged although the workload no
	// longer wants them. Nothing waits for their pods.
	Retained map[string]bool
}

// Stands reports whether the last result of an unchanged object is used again: what it refers to is unchanged, or there is
// no time yet to compile it again.
//
// bytes: the size of the result.
func (c Cluster) Stands(deps []assets.Dependency, bytes int) bool {
	return len(deps) == 0 || c.Current(deps) || c.Renew != nil && !c.Renew(deps[0].Ref.Namespace, bytes)
}

// Offline completes a cluster that does not change while it is read.
func (c Cluster) Offline() Cluster {
	c.Current = func([]assets.Dependency) bool { return true }
	return c
}
