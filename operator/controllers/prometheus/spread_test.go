package prometheus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// simulation is a workload and a fake cluster in which its plans are executed write by write.
type simulation struct {
	t      *testing.T
	owner  Workload
	config workload.Config
	docs   *configsecret.Documents
	max    int // maximum bytes of one Secret
	selectable

	secrets map[string]*corev1.Secret
	maps    map[string]*corev1.ConfigMap
	shards  map[string]*appsv1.StatefulSet
	running []*corev1.Pod
	writes  []string            // changes written by the last reconciliation
	after   func(w *simulation) // called after every write
}

// smallSecret is a limit that a configuration of a few hundred monitors exceeds.
const smallSecret = 4000

func newSimulation(t *testing.T, layout workload.Layout) *simulation {
	t.Helper()
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main", UID: "main", Generation: 1}}
	p.Spec.ServiceMonitorSelector, p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	p.Spec.RuleSelector, p.Spec.RuleNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	config := benchConfig
	config.Layout = layout
	return &simulation{
		t: t, owner: forServer(p), config: config, docs: configsecret.New(nil, smallSecret), max: smallSecret,
		secrets: map[string]*corev1.Secret{}, maps: map[string]*corev1.ConfigMap{}, shards: map[string]*appsv1.StatefulSet{},
	}
}

func newAgentSimulation(t *testing.T) *simulation {
	t.Helper()
	w := newSimulation(t, workload.LayoutSplit)
	a := &v1alpha1.PrometheusAgent{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main", UID: "main", Generation: 1}}
	a.Spec.ServiceMonitorSelector, a.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	w.owner = forAgent(a)
	return w
}

func (w *simulation) cluster() engine.Cluster {
	live := engine.Live{StatefulSets: w.shards, Pods: w.running, Secrets: map[string]*corev1.Secret{}}
	for name, s := range w.secrets {
		live.Secrets[name] = apply.DigestSecret(s)
	}
	for _, m := range w.maps {
		live.ConfigMaps = append(live.ConfigMaps, apply.DigestConfigMap(m))
	}
	return engine.Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		Objects:         w.objects, References: &assets.Static{}, Live: live,
	}.Offline()
}

// desired returns the plan. If the plan is withheld, it also returns the reason as an
// error.
func (w *simulation) desired() (*Inputs, Plan, error) {
	w.t.Helper()
	in, err := gatherFor(Options{Workload: w.config}, w.owner, w.cluster())
	if err != nil {
		w.t.Fatal(err)
	}
	in.documents = w.docs
	plan, err := in.Plan()
	if err == nil {
		err = plan.Withheld
	}
	return in, plan, err
}

// pass executes the writes of one reconciliation and checks the result against the plan.
func (w *simulation) pass() Plan {
	w.t.Helper()
	in, plan, err := w.desired()
	if err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
	for _, s := range slices.Concat(plan.Content, plan.Workload) {
		if w.write(s) && w.after != nil {
			w.after(w)
		}
	}
	config, rules, err := w.read()
	if err != nil {
		w.t.Fatal(err)
	}
	var want strings.Builder
	if err := plan.WriteConfig(&want); err != nil || config != want.String() || strings.Count(config, "- job_name:") != len(w.services) {
		w.t.Errorf("the Secrets hold %d bytes with %d jobs, want %d bytes and %d jobs, %v",
			len(config), strings.Count(config, "- job_name:"), want.Len(), len(w.services), err)
	}
	for _, r := range in.Rules {
		if rules[r.FileName] != string(r.Text()) {
			w.t.Errorf("%s is missing or another one", r.FileName)
		}
	}
	if len(rules) != len(in.Rules) {
		w.t.Errorf("%d rule files, want %d", len(rules), len(in.Rules))
	}
	w.checkDelivery(plan)
	return plan
}

// write executes one write and reports whether it changed anything.
func (w *simulation) write(s apply.Step) bool {
	w.t.Helper()
	name := s.Object.GetName()
	same := false
	switch o := s.Whole().(type) {
	case *corev1.Secret:
		length := 0
		for _, v := range o.Data {
			length += len(v)
		}
		if strings.Contains(name, "config-part") && length > w.max {
			w.t.Errorf("%s has %d bytes", name, length)
		}
		same = w.secrets[name] != nil && cmp.Equal(w.secrets[name].Data, o.Data)
		put(w.secrets, s.Verb, o)
	case *corev1.ConfigMap:
		same = w.maps[name] != nil && cmp.Equal(w.maps[name].Data, o.Data)
		put(w.maps, s.Verb, o)
	case *appsv1.StatefulSet:
		same = w.shards[name] != nil && cmp.Equal(w.shards[name].Spec.Template, o.Spec.Template)
		put(w.shards, s.Verb, o)
	default:
		return false
	}
	changed := !same || s.Verb == apply.Remove
	if changed {
		w.writes = append(w.writes, steps([]apply.Step{s})...)
	}
	return changed
}

func put[T apply.Object](all map[string]T, verb apply.Verb, o T) {
	if verb == apply.Remove {
		delete(all, o.GetName())
	} else {
		all[o.GetName()] = o
	}
}

// read returns the files of a pod that mounts everything: the plain configuration, and
// the rule files of ConfigMaps and of the archive.
func (w *simulation) read() (config string, rules map[string]string, err error) {
	prefix := w.owner.builder(benchConfig).PrefixedName()
	main, files := w.secrets[prefix], map[string][]byte{}
	for name, s := range w.secrets {
		if name == prefix || strings.HasPrefix(name, prefix+"-config-part-") {
			maps.Copy(files, s.Data)
		}
	}
	rules = map[string]string{}
	for _, m := range w.maps {
		maps.Copy(rules, m.Data)
	}
	if main == nil {
		return "", nil, parts.ErrMixed
	}
	plain, archived, err := parts.Read(files, promworkload.ConfigKey)
	maps.Copy(rules, archived)
	return string(plain), rules, err
}

// checkDelivery checks that the digests that pods are expected to report match the
// written content.
func (w *simulation) checkDelivery(plan Plan) {
	w.t.Helper()
	want := plan.content(nil)
	main := w.secrets[w.owner.builder(benchConfig).PrefixedName()].Data
	sum := sha256.Sum256(main[promworkload.ConfigKey])
	have := hex.EncodeToString(sum[:])
	list, err := parts.Parse(main[parts.ListName], promworkload.ConfigKey)
	if main[parts.ListName] != nil {
		have = list.Config.Sum()
	}
	if want.Config != have {
		w.t.Errorf("the pods are asked for configuration %s, they report %s (%v)", want.Config, have, err)
	}
	archived := map[string][]byte{}
	_, rules, _ := w.read()
	for name, text := range rules {
		archived[name] = []byte(text)
	}
	for _, m := range w.maps {
		for name := range m.Data {
			delete(archived, name)
		}
	}
	if got, asked := want.Dirs[promconfig.ConfigRuleDir]; asked != (len(list.Rules) > 0) || asked && got != volume.SumFiles(archived) {
		w.t.Errorf("the pods are asked for unpacked rules %q", got)
	}
}

// template returns the pod template of the first shard.
func (w *simulation) template() *corev1.PodTemplateSpec {
	return &w.shards[w.owner.builder(benchConfig).PrefixedName()].Spec.Template
}

func (w *simulation) partSecrets() (names []string) {
	for name := range w.secrets {
		if strings.Contains(name, "config-part") {
			names = append(names, name)
		}
	}
	return names
}

func TestConfigurationGrowsAndShrinksWithoutANewPod(t *testing.T) {
	all := distinctMonitors(300)
	for name, w := range map[string]*simulation{
		"server": newSimulation(t, workload.LayoutSplit), "agent": newAgentSimulation(t),
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			var template *corev1.PodTemplateSpec
			most := 0
			for _, n := range []int{1, 10, 20, 60, 300, 299, 150, 20, 10, 1} {
				w.services = all[:n]
				w.pass()
				if template == nil {
					template = w.template()
				}
				if diff := cmp.Diff(template, w.template()); diff != "" {
					t.Fatalf("%d monitors: another pod:\n%s", n, diff)
				}
				most = max(most, len(w.partSecrets()))
				if w.pass(); len(w.writes) > 0 {
					t.Errorf("%d monitors: the same again wrote %v", n, w.writes)
				}
			}
			if most < 5 {
				t.Errorf("at most %d parts: the story shows too little", most)
			}
			if left := w.partSecrets(); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// After every single write, a reader sees either the old or the new version.
func TestAReaderSeesOneOfTheVersions(t *testing.T) {
	all := distinctMonitors(300)
	w := newSimulation(t, workload.LayoutSplit)
	w.services = all[:10]
	w.pass()
	for _, n := range []int{40, 300, 299, 120, 130, 10} {
		before, _, _ := w.read()
		w.services = all[:n]
		_, plan, err := w.desired()
		if err != nil {
			t.Fatal(err)
		}
		var next strings.Builder
		if err := plan.WriteConfig(&next); err != nil {
			t.Fatal(err)
		}
		w.after = func(w *simulation) {
			config, _, err := w.read()
			if err != nil || config != before && config != next.String() {
				t.Errorf("%d monitors: a reader sees %d bytes, %v", n, len(config), err)
			}
			// A reader that does not support the list must not mistake the first part for
			// the whole.
			main := w.secrets["prometheus-main"].Data
			if plain, _, err := parts.Read(map[string][]byte{promworkload.ConfigKey: main[promworkload.ConfigKey]}, promworkload.ConfigKey); err == nil && string(plain) != before && string(plain) != next.String() {
				t.Errorf("%d monitors: a beginning passes for a whole: %d bytes", n, len(plain))
			}
		}
		w.pass()
		w.after = nil
	}
}

func TestOneChangedMonitorWritesItsPartAndTheList(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	w.docs, w.max = configsecret.New(nil, 8000), 8000
	w.services = distinctMonitors(600)
	w.pass()
	for i := range 12 {
		m := w.services[i*50].DeepCopy()
		m.Generation++
		m.Spec.Endpoints[0].Path = "/changed"
		w.services[i*50] = m
		w.pass()
		// Small parts of two chunks often change their boundaries. Package document tests
		// how rarely that happens in parts of the usual size.
		if n := slices.Index(w.writes, "put Secret prometheus-main"); n < 1 || n > len(w.partSecrets())/2 || len(w.writes) != 2*n+1 {
			t.Errorf("a change wrote %v", w.writes)
		}
	}
}

func TestSingleLayoutMountsPartsOnceTheyAreNeeded(t *testing.T) {
	all := distinctMonitors(300)
	w := newSimulation(t, workload.LayoutSingle)
	w.services = all[:10]
	w.pass()
	plain := w.template()
	if w.owner.builder(benchConfig).ReadsParts(&plain.Spec) {
		t.Error("parts are mounted before there are any")
	}
	w.services = all
	w.replacePods()
	w.pass()
	grown := w.template()
	if !w.owner.builder(benchConfig).ReadsParts(&grown.Spec) {
		t.Error("parts are not mounted")
	}
	volumes := slices.Clone(grown.Spec.Volumes)
	volumes[0] = plain.Spec.Volumes[0]
	if diff := cmp.Diff(plain.Spec.Volumes, volumes); diff != "" || !cmp.Equal(plain.Spec.Containers, grown.Spec.Containers) {
		t.Errorf("more than the volume changed:\n%s", diff)
	}
	w.services = all[:10]
	w.pass()
	if diff := cmp.Diff(grown, w.template()); diff != "" {
		t.Errorf("shrinking changed the pod again:\n%s", diff)
	}
}

// replacePods runs a reconciliation that finds pods that cannot read parts yet, and that
// only replaces these pods.
func (w *simulation) replacePods() {
	w.t.Helper()
	_, plan, err := w.desired()
	tooLarge, ok := errors.AsType[*configsecret.TooLargeError](err)
	if !ok || tooLarge.NotYet == "" || len(plan.Content) > 0 || plan.Hash != "" {
		w.t.Fatalf("error %v, content %v", err, steps(plan.Content))
	}
	for _, s := range plan.Workload {
		w.write(s)
	}
}

// bulkyRules returns rule objects with one rule of 40 kB each.
func bulkyRules(n int) []*v1.PrometheusRule {
	r := rand.New(rand.NewPCG(5, 6))
	out := make([]*v1.PrometheusRule, n)
	for i := range out {
		var text strings.Builder
		for text.Len() < 40_000 {
			text.WriteString(word(r) + " ")
		}
		out[i] = ruleOf(fmt.Sprintf("bulky-%03d", i), "up")
		out[i].Spec.Groups[0].Rules[0] = v1.Rule{Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"text": text.String()}}
	}
	return out
}

func TestRulesBeyondTheConfigMapsComeWithTheConfiguration(t *testing.T) {
	all := bulkyRules(60)
	w := newSimulation(t, workload.LayoutSplit)
	w.docs, w.max = configsecret.New(nil, 0), configsecret.MaxBytes
	w.services = distinctMonitors(3)
	glob := promconfig.ConfigRuleDir + "/*.yaml"
	var template *corev1.PodTemplateSpec
	var seen map[string]string // of the previous reconciliation
	w.after = func(*simulation) {
		_, now, err := w.read()
		if err != nil && seen != nil {
			t.Errorf("%d rules: %v", len(w.rules), err)
		}
		for _, r := range w.rules {
			name := r.Namespace + "-" + r.Name + "-" + string(r.UID) + ".yaml"
			if _, before := seen[name]; before && now[name] == "" {
				t.Errorf("%d rules: %s is gone in between", len(w.rules), name)
			}
		}
	}
	for _, n := range []int{2, 30, 60, 59, 45, 30, 2} {
		w.rules = all[len(all)-n:]
		w.pass()
		if template == nil {
			template = w.template()
		}
		if diff := cmp.Diff(template, w.template()); diff != "" {
			t.Fatalf("%d rules: another pod:\n%s", n, diff)
		}
		config, now, err := w.read()
		seen = now
		if parts := w.partSecrets(); err != nil || strings.Contains(config, glob) != (len(parts) > 0) || (len(parts) > 0) != (n > 36) {
			t.Errorf("%d rules: %d parts, glob %v, %v", n, len(parts), strings.Contains(config, glob), err)
		}
	}
	if len(w.maps) > 3 {
		t.Errorf("%d ConfigMaps", len(w.maps))
	}
}

func TestRulesStayInConfigMapsWherePodsReadNoParts(t *testing.T) {
	for name, change := range map[string]func(*simulation){
		"the single layout": func(w *simulation) { w.config.Layout = workload.LayoutSingle },
		"a pod of before": func(w *simulation) {
			w.shards["prometheus-main"] = &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-main"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSimulation(t, workload.LayoutSplit)
			w.docs, w.max = configsecret.New(nil, 0), configsecret.MaxBytes
			w.services, w.rules = distinctMonitors(3), bulkyRules(60)
			change(w)
			if w.pass(); len(w.maps) < 4 || len(w.partSecrets()) > 0 {
				t.Errorf("%d ConfigMaps, parts %v", len(w.maps), w.partSecrets())
			}
		})
	}
}

// A configuration is rejected as a whole if no object can be rejected instead, because
// the workload's own part is too large.
func TestWhatDoesNotFitIsRefusedWhole(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	w.services = distinctMonitors(10)
	w.pass()
	before := maps.Clone(w.secrets)
	w.owner.Fields.ExternalLabels = map[string]string{"x": randomText(1, 60_000)}
	w.owner.SetGeneration(2)
	in, _, err := w.desired()
	tooLarge, ok := errors.AsType[*configsecret.TooLargeError](err)
	if !ok || tooLarge.Room != 8*smallSecret || len(leftOut(t, in)) > 0 {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"10 monitors", "MiB compressed", "MiB plain", "let several Prometheus objects select", "spec.shards does not help"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if !maps.Equal(before, w.secrets) {
		t.Error("something was written")
	}
	w.owner.Fields.ExternalLabels = nil
	w.owner.SetGeneration(3)
	w.pass()
}
