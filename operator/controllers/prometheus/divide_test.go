package prometheus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// greedyMonitors returns large monitors of one namespace.
func greedyMonitors(count, bytes int) (out []*v1.ServiceMonitor) {
	for i := range count {
		m := distinctMonitors(1)[0]
		m.Namespace, m.Name, m.UID = "greedy", fmt.Sprint("m", i), types.UID(fmt.Sprint("greedy", i))
		m.Spec.Endpoints[0].RelabelConfigs = []v1.RelabelConfig{{TargetLabel: "x", Replacement: new(randomText(uint64(i), bytes))}}
		out = append(out, m)
	}
	return out
}

// randomText returns a string that hardly compresses and has nothing that Prometheus would
// expand.
func randomText(seed uint64, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	var b strings.Builder
	x := seed*2654435761 + 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteByte(letters[x%64])
	}
	return b.String()
}

// leftOut counts the objects that were rejected for their size, by kind and namespace. Any
// other error fails the test.
func leftOut(t *testing.T, in *Inputs) map[string]int {
	t.Helper()
	out := map[string]int{}
	for v := range in.Results() {
		if v.Err == nil {
			continue
		}
		if _, ok := errors.AsType[*share.LeftOutError](v.Err); !ok {
			t.Errorf("%s/%s: %v", v.Object.GetNamespace(), v.Object.GetName(), v.Err)
		}
		out[v.Kind+" "+v.Object.GetNamespace()]++
	}
	return out
}

func sorted(monitors []*v1.ServiceMonitor) []*v1.ServiceMonitor {
	slices.SortFunc(monitors, func(a, b *v1.ServiceMonitor) int { return informer.CompareKeys(a, b) })
	return monitors
}

// A namespace that exceeds the limit loses only its own objects, with the reason in their
// status. Changes, deletions and rules of others are unaffected.
func TestGreedyNamespaceLosesItsOwn(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	good := distinctMonitors(20)
	w.services = sorted(append(slices.Clone(good), greedyMonitors(14, 3600)...))
	w.rules = distinctRules(2)
	in, plan, err := w.desired()
	if err != nil {
		t.Fatal(err)
	}
	left := leftOut(t, in)
	if n := left["ServiceMonitor greedy"]; n == 0 || n > 9 || len(left) != 1 {
		t.Errorf("left out %v", left)
	}
	if plan.Reason != engine.ReasonLeftOut || !strings.Contains(plan.Message, fmt.Sprintf("%d objects are left out of the namespaces greedy (%d), which hold most", left["ServiceMonitor greedy"], left["ServiceMonitor greedy"])) {
		t.Errorf("reason %s: %s", plan.Reason, plan.Message)
	}
	config := func() string {
		var text strings.Builder
		if err := plan.WriteConfig(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	for _, m := range good {
		if !strings.Contains(config(), "job_name: serviceMonitor/"+m.Namespace+"/"+m.Name+"/0") {
			t.Errorf("no job of %s/%s", m.Namespace, m.Name)
		}
	}
	// Changes and deletions of other objects are applied.
	good[3].Generation++
	good[3].Spec.Endpoints[0].Path = "/changed"
	w.services = slices.DeleteFunc(w.services, func(m *v1.ServiceMonitor) bool { return m == good[5] })
	if _, plan, err = w.desired(); err != nil || !strings.Contains(config(), "/changed") || strings.Contains(config(), good[5].Name+"/0") {
		t.Errorf("a change is missing, %v", err)
	}
	// Objects are accepted again once they fit.
	w.services = slices.DeleteFunc(w.services, func(m *v1.ServiceMonitor) bool { return m.Namespace == "greedy" && m.Name > "m11" })
	if in, plan, err = w.desired(); err != nil || len(leftOut(t, in)) > 0 || plan.Reason == engine.ReasonLeftOut {
		t.Errorf("with less %v, %s, %v", leftOut(t, in), plan.Reason, err)
	}
}

// Rules share the limit of the configuration if some of them are delivered with it, even rules
// in ConfigMaps.
func TestGreedyRules(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	w.docs, w.max = nil, 1<<20
	w.services = distinctMonitors(20)
	for i, r := range distinctRules(1200) {
		r.Namespace, r.Name = "a-greedy", fmt.Sprintf("r%04d", i)
		w.rules = append(w.rules, r)
	}
	good := distinctRules(3)
	w.rules = append(w.rules, good...)
	slices.SortFunc(w.rules, func(a, b *v1.PrometheusRule) int { return informer.CompareKeys(a, b) })
	in, err := gatherFor(Options{Workload: w.config, MaxSecretBytes: 100_000}, w.owner, w.cluster())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := in.Plan()
	if err != nil || plan.Withheld != nil {
		t.Fatal(err, plan.Withheld)
	}
	left := leftOut(t, in)
	if n := left["PrometheusRule a-greedy"]; n == 0 || n > 1000 || len(left) != 1 {
		t.Errorf("left out %v", left)
	}
	there := map[string]bool{}
	for _, files := range plan.files {
		for name := range files {
			there[name] = true
		}
	}
	for _, r := range in.Rules {
		_, comes := plan.overflow[r.FileName]
		if (r.Err == nil) != (there[r.FileName] || comes) {
			t.Errorf("%s: error %v, in a ConfigMap %t, with the configuration %t", r.FileName, r.Err, there[r.FileName], comes)
		}
	}
}

// Objects that exceed the limit are also rejected if only the selection is computed.
func TestSelectionKnowsWhatIsLeftOut(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	w.services = sorted(append(distinctMonitors(20), greedyMonitors(10, 1_200_000)...))
	c := w.cluster()
	in, err := gatherFor(Options{Workload: w.config}, w.owner, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Plan(); err != nil {
		t.Fatal(err)
	}
	c.SelectionOnly = true
	selected, err := gatherFor(Options{Workload: w.config}, w.owner, c)
	if err != nil {
		t.Fatal(err)
	}
	want, got := leftOut(t, in), leftOut(t, selected)
	if fmt.Sprint(want) != fmt.Sprint(got) || want["ServiceMonitor greedy"] == 0 {
		t.Errorf("left out %v, a selection says %v", want, got)
	}
	scrapes, err := ScrapesOf(w.owner.typed(), c, Options{Workload: w.config})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range scrapes.Sources {
		if s.Err != nil {
			n++
		}
	}
	if n != want["ServiceMonitor greedy"] {
		t.Errorf("%d sources are rejected", n)
	}
}

// Small objects of one namespace, each within the limits of one object, do not fill the memory of the server with regular
// expressions: the namespace loses those beyond what all may have.
func TestExpensiveNamespaceLosesItsOwn(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	expensive := greedyMonitors(60, 1)
	for _, m := range expensive {
		m.Spec.Endpoints[0].RelabelConfigs = []v1.RelabelConfig{{SourceLabels: []v1.LabelName{"__address__"}, Action: "drop", Regex: `\pL{300}`}}
	}
	w.services = sorted(append(distinctMonitors(20), expensive...))
	for i, r := range distinctRules(20) {
		r.Namespace, r.Name = "a-greedy", fmt.Sprintf("r%04d", i)
		r.Spec.Groups[0].Rules[0].Expr = intstr.FromString(`up{a=~"\\pL{990}"}`)
		w.rules = append(w.rules, r)
	}
	w.rules = append(w.rules, distinctRules(3)...)
	slices.SortFunc(w.rules, func(a, b *v1.PrometheusRule) int { return informer.CompareKeys(a, b) })
	in, plan, err := w.desired()
	if err != nil {
		t.Fatal(err)
	}
	left := leftOut(t, in)
	if m, r := left["ServiceMonitor greedy"], left["PrometheusRule a-greedy"]; m < 10 || m > 30 || r < 3 || r > 12 || len(left) != 2 {
		t.Errorf("left out %v", left)
	}
	if plan.Reason != engine.ReasonLeftOut || !strings.Contains(plan.Message, "instructions of regular expressions in relabelings") || !strings.Contains(plan.Message, "instructions of regular expressions in rules") {
		t.Errorf("reason %s: %s", plan.Reason, plan.Message)
	}
	c := w.cluster()
	c.SelectionOnly = true
	selected, err := gatherFor(Options{Workload: w.config}, w.owner, c)
	if err != nil || fmt.Sprint(leftOut(t, selected)) != fmt.Sprint(left) {
		t.Errorf("left out %v, a selection says %v, %v", left, leftOut(t, selected), err)
	}
	w.services = slices.DeleteFunc(w.services, func(m *v1.ServiceMonitor) bool { return m.Namespace == "greedy" && m.Name > "m2" })
	w.rules = slices.DeleteFunc(w.rules, func(r *v1.PrometheusRule) bool { return r.Namespace == "a-greedy" && r.Name > "r0003" })
	if in, plan, err = w.desired(); err != nil || len(leftOut(t, in)) > 0 || plan.Reason == engine.ReasonLeftOut {
		t.Errorf("with less %v, %s, %v", leftOut(t, in), plan.Reason, err)
	}
}
