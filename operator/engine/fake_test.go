package engine

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// fakeKind is a minimal kind. Its configuration consists of the values of the Secrets in the
// annotation "secrets" of a workload, the rule in its annotation "base" and the names of the rules
// that it selects.
type fakeKind struct {
	*Kind
	prefix string

	mu       sync.Mutex
	gathered map[string]int // by name of the workload
	open     map[string]int // gatherers that are not closed
	// gathering and planned (both optional) may act, fail, and change the plan. All fields from mu
	// on are guarded.
	gathering func(w v1.Workload, c Cluster) error
	planned   func(w v1.Workload, p *Plan) error
	opened    map[string]int // total number of opened gatherers
	holds     map[string]int // cached bytes, by name of the workload
}

func newFake(row *catalog.Row, prefix string) *fakeKind {
	f := &fakeKind{Kind: named(row, prefix), prefix: prefix, gathered: map[string]int{}, open: map[string]int{}, opened: map[string]int{}}
	f.StatefulSets = "of=" + prefix
	selector := func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		if p, is := w.(*v1.Prometheus); is {
			return p.Spec.RuleNamespaceSelector, p.Spec.RuleSelector
		}
		return w.(*v1.ThanosRuler).Spec.RuleNamespaceSelector, w.(*v1.ThanosRuler).Spec.RuleSelector
	}
	base := func(w v1.Workload) []types.NamespacedName {
		return []types.NamespacedName{{Namespace: w.GetNamespace(), Name: cmp.Or(w.GetAnnotations()["base"], "-")}}
	}
	f.Selects = []Selects{{Row: catalog.PrometheusRule, Of: selector, Named: base, Action: "Selecting"}, {Row: catalog.Probe, Of: selector, Action: "Selecting"}}
	f.Shape = func(w v1.Workload) Shape {
		custom := w.GetAnnotations()["service"]
		out := Shape{
			Sets: []Set{{Name: prefix + "-" + w.GetName()}}, Replicas: 1, Selector: map[string]string{"name": w.GetName()},
			Service: Service{Name: cmp.Or(custom, "operated"), Custom: custom != ""},
		}
		if custom == "" {
			out.Service.Ports = []corev1.ServicePort{{Name: cmp.Or(w.GetAnnotations()["port"], "web"), Port: 80}}
		}
		return out
	}
	f.Open = func(key types.NamespacedName) Gatherer {
		f.count(f.open, key.Name, 1)
		f.count(f.opened, key.Name, 1)
		return &fakeGatherer{f, key.Name}
	}
	f.Gone = func(string, types.NamespacedName) {}
	f.Status = func(w v1.Workload, s Status) (want, have any) {
		return v1.ThanosRulerStatus{WorkloadStatus: s.WorkloadStatus}, v1.ThanosRulerStatus{WorkloadStatus: *w.GetWorkloadStatus()}
	}
	return f
}

// gathers and plans set the hooks.
func (f *fakeKind) gathers(act func(w v1.Workload, c Cluster) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gathering = act
}

func (f *fakeKind) plans(act func(w v1.Workload, p *Plan) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = act
}

// acts returns the current hooks.
func (f *fakeKind) acts() (func(v1.Workload, Cluster) error, func(v1.Workload, *Plan) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gathering, f.planned
}

func (f *fakeKind) count(of map[string]int, name string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of[name] += n
}

// of returns how often a workload was gathered.
func (f *fakeKind) of(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gathered[name]
}

// gatherers returns the number of open gatherers of a workload.
func (f *fakeKind) gatherers(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[name]
}

type fakeGatherer struct {
	*fakeKind
	name string
}

// Held implements Gatherer.
func (g *fakeGatherer) Held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds == nil {
		return 0
	}
	return g.holds[g.name]
}

func (g *fakeGatherer) Close() { g.count(g.open, g.name, -1) }

// fakeInputs are the inputs of one reconciliation.
type fakeInputs struct {
	*fakeKind
	w       v1.Workload
	cluster Cluster
	results []fragments.Result
	refs    []assets.Ref
	values  []string
}

func (g *fakeGatherer) Gather(w v1.Workload, c Cluster) (Inputs, error) {
	g.count(g.gathered, w.GetName(), 1)
	in := &fakeInputs{fakeKind: g.fakeKind, w: w, cluster: c}
	selectors, err := g.Selectors(w)
	if err != nil {
		return in, err
	}
	for _, s := range g.Selects {
		for _, obj := range Selected[catalog.Object](c, selectors, s.Row) {
			v := fragments.Result{Kind: s.Kind, Object: obj}
			if v.Err = v1.Undecodable(manifest.Whole(obj)); v.Err == nil && obj.GetLabels()["bad"] != "" {
				v.Err = fmt.Errorf("it is %s", obj.GetLabels()["bad"])
			}
			in.results = append(in.results, v)
		}
	}
	scope := assets.NewScope(w.GetNamespace(), c.References)
	for name := range strings.FieldsSeq(w.GetAnnotations()["secrets"]) {
		key := corev1.SecretKeySelector{Key: "value"}
		key.Name = name
		value, failed := scope.SecretKey(key)
		err = cmp.Or(err, failed)
		in.values = append(in.values, value)
	}
	for _, d := range scope.Dependencies() {
		in.refs = append(in.refs, d.Ref)
	}
	for _, s := range g.Selects {
		if s.Named == nil {
			continue
		}
		named, failed := Named[catalog.Object](c, s.Row, s.Named(w)[0])
		err = cmp.Or(err, failed)
		if named != nil {
			in.values = append(in.values, fmt.Sprintf("base=%s/%d", named.GetName(), named.GetGeneration()))
		}
	}
	if act, _ := g.acts(); act != nil {
		err = cmp.Or(err, act(w, c))
	}
	return in, err
}

func (in *fakeInputs) Results() iter.Seq[fragments.Result] { return slices.Values(in.results) }
func (in *fakeInputs) References() iter.Seq[assets.Ref]    { return slices.Values(in.refs) }

// Desired plans two Secrets, the Service and one StatefulSet.
func (in *fakeInputs) Desired() (Plan, error) {
	text := in.values
	for _, v := range in.results {
		if v.Err == nil {
			text = append(text, v.Object.GetName())
		}
	}
	config := strings.Join(text, " ")
	plan := Plan{Hash: "h " + config}
	for _, name := range []string{"config", "web"} {
		plan.put(&plan.Content, &corev1.Secret{ObjectMeta: in.meta(name), Data: map[string][]byte{"config": []byte(config)}})
	}
	if service := in.Shape(in.w).Service; service.Shared() {
		svc := &corev1.Service{ObjectMeta: in.meta("")}
		svc.Name, svc.Labels["operated"] = service.Name, "true"
		delete(svc.Labels, "name") // otherwise the workloads that share it would overwrite each other
		for _, p := range in.cluster.Live.Peers {
			peer := in.Shape(p.Workload).Service
			if p.Foreign || !peer.Shared() {
				continue
			}
			svc.OwnerReferences = append(svc.OwnerReferences, in.owner(p.Workload, nil))
			svc.Spec.Ports = append(svc.Spec.Ports, peer.Ports...)
		}
		svc.OwnerReferences = svc.OwnerReferences[1:] // drop its own, which the peers include
		slices.SortFunc(svc.Spec.Ports, func(a, b corev1.ServicePort) int { return cmp.Compare(a.Name, b.Name) })
		svc.Spec.Ports = slices.CompactFunc(svc.Spec.Ports, func(a, b corev1.ServicePort) bool { return a.Name == b.Name })
		plan.put(&plan.Workload, svc)
	}
	sts := &appsv1.StatefulSet{ObjectMeta: in.meta("")}
	sts.Labels["of"], sts.Annotations = in.prefix, map[string]string{wellknown.AnnotationInputHash: fmt.Sprint(in.w.GetGeneration())}
	sts.Spec.Replicas, sts.Spec.Selector = new(int32(1)), &metav1.LabelSelector{MatchLabels: map[string]string{"name": in.w.GetName()}}
	sts.Spec.Template.Labels = map[string]string{"name": in.w.GetName(), "generation": fmt.Sprint(in.w.GetGeneration())}
	plan.put(&plan.Workload, sts)
	if _, act := in.acts(); act != nil {
		return plan, act(in.w, &plan)
	}
	return plan, nil
}

func (p *Plan) put(steps *[]apply.Step, o apply.Object) {
	*steps = append(*steps, apply.Step{Verb: apply.Put, Object: o})
}

func (in *fakeInputs) meta(suffix string) metav1.ObjectMeta {
	name := strings.TrimSuffix(in.prefix+"-"+in.w.GetName()+"-"+suffix, "-")
	return metav1.ObjectMeta{
		Namespace: in.w.GetNamespace(), Name: name, Labels: map[string]string{"managed-by": "prometheus-operator", "name": in.w.GetName()},
		OwnerReferences: []metav1.OwnerReference{in.owner(in.w, new(true))},
	}
}

func (in *fakeInputs) owner(w v1.Workload, controller *bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: in.GroupVersion().String(), Kind: in.Kind.Kind, Name: w.GetName(), UID: w.GetUID(), Controller: controller}
}
