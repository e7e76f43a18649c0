package thanosruler

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// fakeCluster is a fake cluster with rule objects.
type fakeCluster struct {
	rules   []*v1.PrometheusRule
	secrets assets.Static
	live    engine.Live
}

func (w *fakeCluster) cluster() engine.Cluster {
	return engine.Cluster{
		NamespaceLabels: func(name string) (labels.Set, bool) { return labels.Set{"kubernetes.io/metadata.name": name}, true },
		Objects: func(kind string) iter.Seq[catalog.Object] {
			return func(yield func(catalog.Object) bool) {
				for _, r := range w.rules {
					if kind != v1.PrometheusRuleKind || !yield(r) {
						return
					}
				}
			}
		},
		References: &w.secrets, Live: w.live,
	}.Offline()
}

func ruleObject(namespace, name, expr string) *v1.PrometheusRule {
	r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Labels: map[string]string{"name": name}}}
	r.Spec.Groups = []v1.RuleGroup{{Name: "g", PartialResponseStrategy: "warn", Rules: []v1.Rule{{Record: "a", Expr: intstr.FromString(expr)}}}}
	return r
}

func selectingRuler(name string) *v1.ThanosRuler {
	tr := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name, UID: types.UID("ruler-" + name)}}
	tr.Spec.QueryEndpoints = []string{"http://query"}
	tr.Spec.RuleSelector = &metav1.LabelSelector{}
	return tr
}

// steps formats the writes of a plan as "put ConfigMap/name".
func steps(all []apply.Step) (out []string) {
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s %s/%s", s.Verb, apply.KindOf(s.Object), s.Object.GetName()))
	}
	return out
}

// planFor returns the plan of the first reconciliation of a ThanosRuler.
func planFor(t *testing.T, tr *v1.ThanosRuler, w *fakeCluster) (engine.Inputs, engine.Plan, error) {
	t.Helper()
	in, err := Kind(testConfig(), &rules.Cache{}).Open(types.NamespacedName{}).Gather(tr, w.cluster())
	if err != nil {
		return in, engine.Plan{}, err
	}
	plan, err := in.Desired()
	return in, plan, err
}

// Rules and files are written before the objects that run the pods, and a rejected object
// does not affect the others.
func TestPlan(t *testing.T) {
	w := &fakeCluster{rules: []*v1.PrometheusRule{ruleObject("demo", "bad", "up("), ruleObject("demo", "good", "up"), ruleObject("other", "far", "up")}}
	in, plan, err := planFor(t, selectingRuler("main"), w)
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	for v := range in.Results() {
		results = append(results, fmt.Sprint(v.Object.GetName(), v.Err == nil))
	}
	if diff := cmp.Diff([]string{"badfalse", "goodtrue"}, results); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"put ConfigMap/thanos-ruler-main-rulefiles-0", "put Secret/thanos-ruler-main-config",
		"put Secret/thanos-ruler-main-tls-assets-0", "put Secret/thanos-ruler-main-web-config",
	}, steps(plan.Content)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"put Service/thanos-ruler-operated", "put StatefulSet/thanos-ruler-main"}, steps(plan.Workload)); diff != "" {
		t.Error(diff)
	}
	files := plan.Content[0].Whole().(*corev1.ConfigMap).Data
	if len(files) != 1 || !strings.Contains(files["demo-good-good.yaml"], "partial_response_strategy: warn") {
		t.Errorf("files %q", files)
	}
	if dirs := plan.Delivered.Dirs; len(dirs) != 1 || dirs["/etc/thanos/rules/thanos-ruler-main-rulefiles-0"] == "" || plan.Delivered.Config != "" {
		t.Errorf("delivered %+v", plan.Delivered)
	}
	var text bytes.Buffer
	if err := plan.Plain[0].Text(&text); err != nil || text.String() != "remote_write: []\n" {
		t.Errorf("remote write %q, %v", text.String(), err)
	}
	w.rules[1] = ruleObject("demo", "good", "up == 1")
	if _, changed, err := planFor(t, selectingRuler("main"), w); err != nil || changed.Hash == plan.Hash {
		t.Errorf("the hash does not follow the rules: %v", err)
	}
}

// Namespace and object selectors apply to namespaces and objects respectively.
func TestSelectors(t *testing.T) {
	w := &fakeCluster{rules: []*v1.PrometheusRule{ruleObject("demo", "a", "up"), ruleObject("demo", "b", "up"), ruleObject("other", "a", "up")}}
	for name, tc := range map[string]struct {
		namespaces, objects *metav1.LabelSelector
		want                []string
	}{
		"nothing is set":       {nil, nil, nil},
		"own namespace":        {nil, &metav1.LabelSelector{}, []string{"demo/a", "demo/b"}},
		"labels":               {nil, &metav1.LabelSelector{MatchLabels: map[string]string{"name": "a"}}, []string{"demo/a"}},
		"all namespaces":       {&metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"name": "a"}}, []string{"demo/a", "other/a"}},
		"namespaces by labels": {&metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "other"}}, &metav1.LabelSelector{}, []string{"other/a"}},
	} {
		tr := selectingRuler("main")
		tr.Spec.RuleNamespaceSelector, tr.Spec.RuleSelector = tc.namespaces, tc.objects
		in, _, err := planFor(t, tr, w)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for v := range in.Results() {
			got = append(got, v.Object.GetNamespace()+"/"+v.Object.GetName())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A missing Secret is recorded as a reference, so that its creation triggers a
// reconciliation.
func TestMissingReference(t *testing.T) {
	tr := selectingRuler("main")
	key := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "password"}
	tr.Spec.RemoteWrite = []v1.RemoteWriteSpec{{URL: "http://a", BasicAuth: &v1.BasicAuth{Username: key, Password: key}}}
	in, _, err := planFor(t, tr, &fakeCluster{})
	if err == nil || !strings.HasPrefix(err.Error(), "spec.remoteWrite[0]") {
		t.Errorf("error %v", err)
	}
	if refs := slices.Collect(in.References()); len(refs) == 0 || refs[0].Name != "login" {
		t.Errorf("references %v", refs)
	}
}

// Faults of the object are reported before anything is written.
func TestFaultsComeFirst(t *testing.T) {
	for field, spoil := range map[string]func(*v1.ThanosRuler){
		"spec.queryEndpoints": func(tr *v1.ThanosRuler) { tr.Spec.QueryEndpoints = nil },
		"spec.version":        func(tr *v1.ThanosRuler) { tr.Spec.Version = "0.29.0-0123" },
		"spec.ruleSelector": func(tr *v1.ThanosRuler) {
			tr.Spec.RuleSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Maybe"}}}
		},
	} {
		tr := selectingRuler("main")
		spoil(tr)
		_, plan, err := planFor(t, tr, &fakeCluster{})
		if err == nil || !strings.HasPrefix(err.Error(), field) || len(plan.Content)+len(plan.Workload) > 0 {
			t.Errorf("%s: %v, and the plan %q", field, err, steps(append(plan.Content, plan.Workload...)))
		}
	}
}

// An invalid alerting file is reported like any other fault of the spec and checked again
// when its Secret changes. A missing file only prevents the start of the pods.
func TestFilesAboutAlerts(t *testing.T) {
	w := &fakeCluster{}
	tr := selectingRuler("main")
	tr.Spec.AlertRelabelConfigs = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "relabel"}, Key: "k"}
	tr.Spec.EvaluationInterval = "0s"
	g := Kind(testConfig(), &rules.Cache{}).Open(types.NamespacedName{})
	plan := func() (refs []assets.Ref, err error) {
		cluster := w.cluster()
		cluster.Current = func([]assets.Dependency) bool { return false } // as after a change
		in, err := g.Gather(tr, cluster)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Desired()
		return slices.Collect(in.References()), err
	}
	about := []assets.Ref{{Kind: assets.Secret, Namespace: "demo", Name: "relabel"}}
	const interval, relabel = "spec.evaluationInterval: must be longer than 0", `spec.alertRelabelConfigs: key "k" of Secret "demo/relabel", line 1: unknown field a`
	for _, step := range []struct{ text, want string }{{"", interval}, {"- {a: b}", interval + "\n" + relabel}, {"- {regex: a, action: labeldrop}", interval}} {
		if step.text != "" {
			w.secrets = assets.Static{}
			w.secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "relabel"}, Data: map[string][]byte{"k": []byte(step.text)}})
		}
		if refs, err := plan(); fmt.Sprint(err) != step.want || !slices.Equal(refs, about) {
			t.Errorf("%q: references %v, got\n%v\nwant\n%s", step.text, refs, err, step.want)
		}
	}
	tr.Spec.EvaluationInterval, tr.Generation = "", 2
	if _, err := plan(); err != nil {
		t.Error(err)
	}
}

// The shared Service keeps the ports of peers. A StatefulSet with a former name is
// deleted, one of another workload is not.
func TestPlanAmongOthers(t *testing.T) {
	tr, peer := selectingRuler("main"), selectingRuler("other")
	peer.Spec.PortName = "http"
	tr.CreationTimestamp = metav1.Unix(1, 0) // the ports of the older one take precedence
	ours, foreign := &appsv1.StatefulSet{}, &appsv1.StatefulSet{}
	ours.Name, ours.OwnerReferences = "thanos-ruler-old", []metav1.OwnerReference{{UID: tr.UID}}
	foreign.Name, foreign.OwnerReferences = "thanos-ruler-else", []metav1.OwnerReference{{UID: "x"}}
	w := &fakeCluster{live: engine.Live{
		Peers:        []engine.Peer{{Workload: tr}, {Workload: peer}},
		StatefulSets: map[string]*appsv1.StatefulSet{ours.Name: ours, foreign.Name: foreign},
	}}
	_, plan, err := planFor(t, tr, w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"put Service/thanos-ruler-operated", "put StatefulSet/thanos-ruler-main", "remove StatefulSet/thanos-ruler-old",
	}, steps(plan.Workload)); diff != "" {
		t.Error(diff)
	}
	if svc := plan.Workload[0].Object.(*corev1.Service); len(svc.OwnerReferences) != 2 {
		t.Errorf("references %v", svc.OwnerReferences)
	}
	if !slices.ContainsFunc(faults.Texts(plan.Warnings), func(text string) bool { return strings.Contains(text, "thanos-ruler-operated") }) {
		t.Errorf("nothing tells of the port that is lost: %q", plan.Warnings)
	}
}

// Event handlers call Shape for every ThanosRuler, even with an invalid version: it must
// not panic, because that would end the operator.
func TestShapeWithoutAVersion(t *testing.T) {
	tr := selectingRuler("main")
	tr.Spec.Version = "latest"
	tr.Spec.Web = &v1.ThanosRulerWebSpec{WebConfigFileFields: v1.WebConfigFileFields{TLSConfig: &v1.WebTLSConfig{}}}
	shape := Kind(testConfig(), &rules.Cache{}).Shape(tr)
	if len(shape.Sets) != 1 || shape.Sets[0].Name != "thanos-ruler-main" || shape.Reloaders.Scheme != "http" {
		t.Errorf("%+v", shape)
	}
}

// Closing a ThanosRuler before its first reconciliation releases its compiled rules.
func TestClosingDropsWhatIsCompiledAhead(t *testing.T) {
	cache, tr := &rules.Cache{}, selectingRuler("main")
	k := Kind(testConfig(), cache)
	w := &fakeCluster{rules: []*v1.PrometheusRule{ruleObject("demo", "a", "up")}}
	k.Ahead.Compile(tr, w.cluster())
	before := cache.Len()
	k.Open(types.NamespacedName{Namespace: "demo", Name: "main"}).Close()
	if n := cache.Len(); before != 1 || n != 0 {
		t.Errorf("%d rule objects are kept of %d", n, before)
	}
}
