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

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Kind is all the engine needs to know about one kind of workload.
type Kind struct {
	*catalog.Row
	Controller string // in logs and Events: "prometheus-controller"
	Label      string // value of the metrics' label controller: "prometheus"
	Queue      string // name of the queue in its metrics: "prometheus"
	Program    string // whose versions the kind's pods run, for people: "Prometheus"

	// Names are those of what belongs to workloads of the kind.
	Names workload.Kind
	// StatefulSets and DaemonSets are label selectors of those of the kind; it has no
	// DaemonSets when that is empty.
	StatefulSets, DaemonSets string

	// Selects are the kinds of objects that a workload selects, in the order in which
	// they are told.
	Selects []Selects
	// Shape says what runs the pods of a workload and how they are reached.
	Shape func(w v1.Workload) Shape
	// Open returns what gathers for one workload from now on.
	Open func(key types.NamespacedName) Gatherer
	// Ahead compiles at the start what takes long; nil where nothing does.
	Ahead *Ahead
	// Gone drops what is remembered of an object that was deleted, of a kind that
	// workloads select.
	Gone func(kind string, object types.NamespacedName)
	// ChargeTo has it counted what selected objects compile to.
	ChargeTo func(charge compiled.Charge)
	// Status returns the status that a workload should have, of the kind's own type,
	// and the one it has.
	Status func(w v1.Workload, s Status) (want, have any)
	// Gauges are metrics of what workloads ask for, besides their replicas.
	Gauges []Gauge
}

// nameLabel names the workload on its StatefulSets, pods and PVCs.
func (k *Kind) nameLabel() string { return k.Names.NameLabels[0] }

// prefix begins the names of StatefulSets: "prometheus-".
func (k *Kind) prefix() string { return k.Names.Prefix + "-" }

// Selects is one kind of objects that a workload selects.
type Selects struct {
	*catalog.Row
	// Of returns the selectors of namespaces and of objects.
	Of func(w v1.Workload) (namespaces, objects *metav1.LabelSelector)
	// Named (optional) are objects that a workload uses by name and in another way, such
	// as the base of its configuration: they are not selected, and it is reconciled when
	// they change.
	Named func(w v1.Workload) []types.NamespacedName
	// Action is what Events about rejected objects say the operator was doing.
	Action string
}

// Ahead is work that the first reconciliation need not do.
type Ahead struct {
	Of      *catalog.Row // whose objects are enough for it
	Compile func(w v1.Workload, c Cluster)
}

// Gauge is a metric with the labels namespace and name of a workload.
type Gauge struct {
	Name, Help string
	// Value returns false for a workload without this setting.
	Value func(w v1.Workload) (float64, bool)
}

// Gatherer gathers for one workload. It remembers what makes the next reconciliation
// cheap.
type Gatherer interface {
	// Gather reads what decides about the workload. A rejected object is data, not an
	// error. w is a copy that knows its kind.
	//
	// Errors: the workload is wrong, or what it refers to itself is missing; the
	// cluster could not be read. The inputs have then what was read before.
	Gather(w v1.Workload, c Cluster) (Inputs, error)
	// Held returns how many bytes are kept for the next Gather, of all that the last ones
	// compiled.
	Held() int
	// Close ends its use, and drops what was compiled for the workload, also ahead.
	Close()
}

// Inputs is everything that a reconciliation read.
type Inputs interface {
	// Verdicts are the selected objects, those of a kind by "namespace/name". Desired may
	// reject more of them: those for which there is no room.
	Verdicts() iter.Seq[compiled.Verdict]
	// References are all Secrets and ConfigMaps that were asked for.
	References() iter.Seq[assets.Ref]
	// Desired decides what should exist. Same inputs, same plan.
	//
	// Errors: a setting of the workload is wrong: nothing is to be written.
	Desired() (Plan, error)
}

// Plan is what a reconciliation wants to write, in order: Content, then the
// annotations of the pods, then Workload.
type Plan struct {
	Content  []apply.Step // Secrets and ConfigMaps
	Workload []apply.Step // the Service and what runs the pods
	// Hash stands for everything in Content that reaches running pods.
	Hash string
	// Delivered is what the pods have on disk once Content has reached them.
	Delivered delivery.Content
	// Withheld says why there is no Content, though Workload is to be written.
	Withheld error
	// AwaitsPods says that the next reconciliation can do more when pods have changed.
	AwaitsPods bool

	// Dropped names what the version does not know and was left out, sorted.
	Dropped []string
	// Warnings are remarks for the log, sorted.
	Warnings []string
	// Plain are files, as pods read them, that objects of the plan do not show as they
	// are: the configuration, which is compressed, and what comes with it.
	Plain []Plain
	// Reason and Message are for the condition Reconciled; empty when nothing is to
	// be said.
	Reason, Message string

	growth
}

// WriteConfig writes the configuration as the pods' program reads it; nothing when there is none.
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

// ConfigPart is the part of [Plain] that is the configuration.
const ConfigPart = "config"

// Plain is a file as pods read it.
type Plain struct {
	Part string // what it is a part of: [ConfigPart] or "rules"
	Name string
	Text func(w io.Writer) error
}

// Setup is a kind and how its controller runs.
type Setup struct {
	*Kind
	Options
}

// Shape is what the engine must know of one workload without gathering.
type Shape struct {
	// Sets are the StatefulSets that should exist, in order; none with a DaemonSet.
	Sets []Set
	// DaemonSet is its name; empty for a workload with StatefulSets.
	DaemonSet string
	// Replicas is how many pods each StatefulSet has.
	Replicas int32
	// Service is the Service that gives the pods their names.
	Service Service
	// Selector are the labels that find all pods.
	Selector map[string]string
	// Reloaders says where the pods' reloaders tell what they have; no ports when they
	// cannot be reached from outside.
	Reloaders delivery.Pod
	// Server is the container of the program that the workload is about.
	Server string
}

// Set is one StatefulSet.
type Set struct {
	Name  string
	Title string // before what is told of its pods: "shard 0: "; may be empty
}

// Service is the Service of a workload's pods.
type Service struct {
	Name string
	// Custom says that the user has made it; else the workloads of a namespace share
	// it.
	Custom bool
	// Ports are those that the workload needs of a shared one; none when it uses none.
	Ports []corev1.ServicePort
}

// Shared reports whether the workload uses a Service that others use too.
func (s Service) Shared() bool { return len(s.Ports) > 0 }

// Peer is a workload that shares its namespace with others of its kind.
type Peer struct {
	v1.Workload
	Foreign bool // another operator is responsible for it
}

// Cluster is what a reconciliation reads: informer stores in the operator, manifests
// when rendering without a cluster. Objects are not changed.
type Cluster struct {
	// NamespaceLabels returns the labels of a namespace; ok is false when it is not
	// known.
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// Objects returns the objects of a kind by "namespace/name" in byte order; nil
	// where the kind is not read.
	Objects func(kind string) iter.Seq[catalog.Object]
	// Named returns an object that a workload names, nil when it does not exist, also
	// where the kind is not watched. Without it, Objects has them all.
	Named func(row *catalog.Row, name types.NamespacedName) (catalog.Object, error)
	// References resolves values in Secrets and ConfigMaps; read through an
	// assets.Scope, which tells faults of the cluster from those of a reference.
	References assets.Reader
	// Current reports whether what references led to has not changed.
	Current func([]assets.Dependency) bool
	// Live is what exists for the workload.
	Live Live
	// SelectionOnly says that only the verdicts are of interest: nothing that the
	// workload itself refers to is read, and nothing is decided.
	SelectionOnly bool
	// Now decides about deadlines.
	Now time.Time
}

// Live is what was written for a workload before, and what is beside it.
type Live struct {
	StatefulSets map[string]*appsv1.StatefulSet // by name
	DaemonSet    *appsv1.DaemonSet              // nil when there is none
	Pods         []*corev1.Pod                  // as trimPod leaves them
	// Claims are the PVCs of the pods, not nil; nil when they are left alone.
	Claims []*corev1.PersistentVolumeClaim
	// ConfigMaps are those of rules.
	ConfigMaps []*corev1.ConfigMap
	// Secrets are those that the operator made in the namespace, by name and as
	// apply.DigestSecret leaves them.
	Secrets map[string]*corev1.Secret
	// Peers are the workloads of the kind in the namespace, with or without this one.
	Peers []Peer
	// Retained are those of StatefulSets that are kept as they are, although the workload does
	// not want them any more. Nothing waits for their pods.
	Retained map[string]bool
}

// Offline completes a cluster that does not change while it is read.
func (c Cluster) Offline() Cluster {
	c.Current = func([]assets.Dependency) bool { return true }
	return c
}
