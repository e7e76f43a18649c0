package engine

import (
	"context"
	"iter"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// byName finds the objects of a workload by the label that names it.
var byName = informer.Index{Labels: []string{wellknown.LabelOwnerName, wellknown.LabelAlertmanager, wellknown.LabelThanosRuler}}

var managedSelector = wellknown.Having(wellknown.LabelManagedBy, wellknown.ManagedBy)

// podSelector returns the label selector of the pods of all workloads, and of their PVCs. labels are those that the
// operator adds to pods, which may replace its own.
func podSelector(labels map[string]string) string {
	by := wellknown.ManagedBy
	if other := labels[wellknown.LabelAppManagedBy]; other != "" && other != by {
		by += "," + other
	}
	return wellknown.Having(wellknown.LabelAppManagedBy, by) + "," + wellknown.LabelAppInstance
}

// stores are the informer caches that one controller reads.
type stores struct {
	*Sources
	refs         *references
	workloads    workloads
	statefulSets *informer.Store[*appsv1.StatefulSet]
	daemonSets   *informer.Store[*appsv1.DaemonSet] // nil for a kind without DaemonSets
	configMaps   *informer.Store[*corev1.ConfigMap] // of rules; nil for a kind without any

	// These may be shared with other kinds; owner references and names distinguish the objects.
	secrets  *informer.Store[*corev1.Secret]
	services *informer.Store[*corev1.Service]
	pods     *informer.Store[*corev1.Pod]
	claims   *informer.Store[*corev1.PersistentVolumeClaim] // nil: not managed
}

func newStores(k *Kind, clients Clients, opts Options, shared *Sources, m *Metrics) *stores {
	shared.calls.CountFor(m)
	calls := informer.CallsOf(m)
	own := func(labels string) informer.Watch {
		return informer.Watch{Calls: calls, Reads: clients.Reads, Namespaces: opts.Instances, LabelSelector: labels, Index: byName}
	}
	instances := own(opts.InstanceSelector)
	instances.Bounds = shared.bounds(k.Row)
	core, apps := clients.Kube.CoreV1().RESTClient(), clients.Kube.AppsV1().RESTClient()
	out := &stores{
		Sources:      shared,
		refs:         shared.references(opts.References),
		workloads:    workloads{informer.NewStore(clients.of(k.Row).REST(), k.Resource, k.New(), instances, nil)},
		statefulSets: informer.NewStore(apps, "statefulsets", &appsv1.StatefulSet{}, own(k.StatefulSets), nil),
	}
	secrets := shared.watch(opts.Instances, managedSelector)
	secrets.Index.Names = true
	secrets.Poll = shared.writtenPoll(assets.Secret, managedSelector, func(*Kind) bool { return true })
	out.secrets = owned(shared, clients.content(), "secrets", &corev1.Secret{}, secrets, apply.DigestSecret)
	if k.DaemonSets != "" {
		out.daemonSets = informer.NewStore(apps, "daemonsets", &appsv1.DaemonSet{}, own(k.DaemonSets), nil)
	}
	if k.Names.RuleLabel != "" {
		rules := own(managedSelector + "," + k.Names.RuleLabel)
		rules.Index.Labels = []string{k.Names.RuleLabel}
		rules.Poll = shared.writtenPoll(assets.ConfigMap, rules.LabelSelector, func(of *Kind) bool { return of == k })
		out.configMaps = informer.NewStore(clients.content(), "configmaps", &corev1.ConfigMap{}, rules, trimRules)
	}
	services, pods := shared.watch(opts.Instances, k.Names.OperatedLabel), shared.watch(opts.Instances, podSelector(opts.Labels))
	pods.Index = byName
	services.Poll, pods.Poll = shared.servicePoll(k.Names.OperatedLabel), shared.podPoll()
	out.services = owned(shared, core, "services", &corev1.Service{}, services, nil)
	out.pods = owned(shared, core, "pods", &corev1.Pod{}, pods, trimPod)
	if clients.Claims {
		claims := shared.watch(opts.Instances, podSelector(opts.Labels))
		claims.Index = byName
		out.claims = owned(shared, core, "persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, claims, trimClaim)
	}
	for _, s := range k.Selects {
		shared.config(s.Row)
	}
	return out
}

// all returns the stores that must be complete before the first reconciliation.
func (s *stores) all(selects []Selects) []informer.Syncer {
	out := []informer.Syncer{
		s.namespaces, s.refs.secrets, s.refs.configMaps, s.workloads, s.statefulSets, s.secrets, s.services, s.pods,
	}
	for _, k := range selects {
		if store := s.config(k.Row); store != nil {
			out = append(out, store)
		}
	}
	if s.claims != nil {
		out = append(out, s.claims)
	}
	if s.daemonSets != nil {
		out = append(out, s.daemonSets)
	}
	if s.configMaps != nil {
		out = append(out, s.configMaps)
	}
	return out
}

// caches returns the caches with which the writer compares.
func (s *stores) caches() apply.Caches {
	out := apply.Caches{Secrets: s.secrets, Services: s.services, StatefulSets: s.statefulSets}
	if s.configMaps != nil {
		out.ConfigMaps = s.configMaps
	}
	if s.daemonSets != nil {
		out.DaemonSets = s.daemonSets
	}
	return out
}

// workloads is the store of one kind of workload.
type workloads struct {
	*informer.Store[catalog.Object]
}

func (s workloads) get(namespace, name string) (v1.Workload, bool) {
	obj, ok := s.Get(namespace, name)
	if !ok {
		return nil, false
	}
	return obj.(v1.Workload), true
}

func (s workloads) all() iter.Seq[v1.Workload] {
	return func(yield func(v1.Workload) bool) {
		for obj := range s.All() {
			if !yield(obj.(v1.Workload)) {
				return
			}
		}
	}
}

func (s workloads) in(namespace string) []v1.Workload {
	var out []v1.Workload
	for _, obj := range s.List(namespace, informer.Where{}) {
		out = append(out, obj.(v1.Workload))
	}
	return out
}

// start fills all stores, which stay current until the context ends.
func (s *stores) start(ctx context.Context, selects []Selects) error {
	return fill(ctx, s.all(selects))
}
