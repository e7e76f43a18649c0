package prometheus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// hostile generates objects that the CRDs allow, of each kind that a Prometheus selects,
// with names of up to the maximum length.
type hostile struct {
	rng *rand.Rand
	pem map[string]string // certificate, key or other text by the first letter of the Secret key
}

var hostileKinds = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{
		v1.ServiceMonitorKind: v1.Version, v1.PodMonitorKind: v1.Version, v1.ProbeKind: v1.Version,
		v1.PrometheusRuleKind: v1.Version, v1alpha1.ScrapeConfigKind: v1alpha1.Version,
	})
})

// long returns a valid name of one of several lengths. Half of the names have the maximum
// length.
func (h *hostile) long(letter string, most int) string {
	lengths := []int{1, 63, 150, most, most, most}
	return letter + strings.Repeat("x", min(lengths[h.rng.IntN(len(lengths))], most)-1)
}

// Object implements [assets.Reader]. Every key that h.long can return exists; its first
// letter selects the content.
func (h *hostile) Object(ref assets.Ref) (assets.Object, error) {
	values := map[string][]byte{}
	for letter, text := range h.pem {
		for _, n := range []int{1, 63, 150, 253} {
			values[letter+strings.Repeat("x", n-1)] = []byte(text)
		}
	}
	return assets.Object{Version: "1", Values: values}, nil
}

// refer sets the name and key of every reference to existing ones.
func (h *hostile) refer(v any, at string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			h.refer(item, at)
		}
	case map[string]any:
		if _, isKey := v["key"].(string); isKey && v["operator"] == nil {
			letters := map[string]string{"ca": "c", "cert": "c", "keySecret": "k"}
			v["name"], v["key"] = h.long("s", 253), h.long(cmp.Or(letters[at], "t"), 253)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := name
			if name == "secret" || name == "configMap" {
				inner = at
			}
			h.refer(v[name], inner)
		}
	}
}

// into generates a random object of a kind. Half of the objects are minimal except for
// TLS, because few of the others are accepted.
func (h *hostile) into(t *testing.T, kind string, out metav1.Object) {
	t.Helper()
	generators, err := hostileKinds()
	if err != nil {
		t.Fatal(err)
	}
	object, err := generators[kind].Object(h.rng, h.rng.Float64()*0.4)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := object["spec"].(map[string]any)
	if h.rng.IntN(2) == 0 {
		spec = plainSpecs()[kind]
	}
	h.refer(spec, "")
	text, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	out.SetNamespace(h.long("n", 63))
	out.SetName(fmt.Sprintf("%d%s", h.rng.IntN(1000), h.long("m", 250)))
	out.SetUID("11111111-2222-3333-4444-555555555555")
	out.SetGeneration(1)
}

// plainSpecs returns valid specs with all kinds of TLS files, by kind.
func plainSpecs() map[string]map[string]any {
	tls := func() map[string]any {
		return map[string]any{
			"ca": map[string]any{"configMap": map[string]any{"key": ""}}, "cert": map[string]any{"secret": map[string]any{"key": ""}},
			"keySecret": map[string]any{"key": ""},
		}
	}
	endpoint := func() []any { return []any{map[string]any{"port": "http", "scheme": "https", "tlsConfig": tls()}} }
	return map[string]map[string]any{
		v1.ServiceMonitorKind: {"selector": map[string]any{}, "endpoints": endpoint()},
		v1.PodMonitorKind:     {"selector": map[string]any{}, "podMetricsEndpoints": endpoint()},
		v1.ProbeKind: {"prober": map[string]any{"url": "prober"}, "tlsConfig": tls(),
			"targets": map[string]any{"staticConfig": map[string]any{"static": []any{"a"}}}},
		v1alpha1.ScrapeConfigKind: {"tlsConfig": tls(), "consulSDConfigs": []any{map[string]any{"server": "c:80", "tlsConfig": tls()}}},
		v1.PrometheusRuleKind: {"groups": []any{map[string]any{"name": strings.Repeat("g", 300),
			"rules": []any{map[string]any{"record": "a:b", "expr": "up"}}}}},
	}
}

// TestHostileObjects runs a Prometheus with objects whose names have up to the maximum
// length. Each object is accepted or rejected independently: the API server accepts the
// result, and the valid monitor and rule are in it.
func TestHostileObjects(t *testing.T) {
	certificate, key := keyPair(t)
	tooLong, accepted := 0, 0
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 3))
		h := &hostile{rng: rng, pem: map[string]string{"c": certificate, "k": key, "t": "text"}}
		if seed%4 == 0 {
			h.pem["c"] += strings.Repeat("\n", 250_000) // nearly too large for a file
		}
		s := newScene()
		s.reader = h
		s.services[0].Spec.Endpoints[0].TLSConfig = &v1.TLSConfig{SafeTLSConfig: v1.SafeTLSConfig{CA: v1.SecretOrConfigMap{Secret: secretKey("s", "c")}}}
		all := &metav1.LabelSelector{}
		s.p.Spec.ServiceMonitorNamespaceSelector, s.p.Spec.PodMonitorNamespaceSelector, s.p.Spec.RuleNamespaceSelector = all, all, all
		s.p.Spec.ProbeSelector, s.p.Spec.ProbeNamespaceSelector, s.p.Spec.ScrapeConfigSelector, s.p.Spec.ScrapeConfigNamespaceSelector = all, all, all, all
		for range 4 {
			service, pod, rule := &v1.ServiceMonitor{}, &v1.PodMonitor{}, &v1.PrometheusRule{}
			probe, scrape := &v1.Probe{}, &v1alpha1.ScrapeConfig{}
			h.into(t, v1.ServiceMonitorKind, service)
			h.into(t, v1.PodMonitorKind, pod)
			h.into(t, v1.PrometheusRuleKind, rule)
			h.into(t, v1.ProbeKind, probe)
			h.into(t, v1alpha1.ScrapeConfigKind, scrape)
			s.services, s.pods, s.rules = append(s.services, service), append(s.pods, pod), append(s.rules, rule)
			s.probes, s.scrapes = append(s.probes, probe), append(s.scrapes, scrape)
		}
		in, err := s.gather()
		if err != nil {
			t.Fatalf("seed %d: one object stops all: %v", seed, err)
		}
		plan := s.plan(t)
		takenByTheServer(t, plan)
		s.goodOnesAreThere(t, plan)
		for m := range in.Monitors.All() {
			switch {
			case m.Err == nil && m.Object.GetName() != "app":
				accepted++
			case m.Err != nil && strings.Contains(m.Err.Error(), "make a file name of"):
				tooLong++
			}
		}
	}
	if tooLong < 10 || accepted < 10 {
		t.Errorf("%d accepted, %d rejected for the length of a file name: the test shows little", accepted, tooLong)
	}
}

// goodOnesAreThere checks that the unrelated monitor and rule are written.
func (s *scene) goodOnesAreThere(t *testing.T, plan Plan) {
	t.Helper()
	var config strings.Builder
	if err := plan.WriteConfig(&config); err != nil || !strings.Contains(config.String(), "job_name: serviceMonitor/team/app/0\n") {
		t.Errorf("the good monitor is not in the configuration: %v", err)
	}
	files, rules := 0, 0
	for _, step := range plan.Content {
		switch o := step.Whole().(type) {
		case *corev1.Secret:
			if len(o.Data["0_team_s_c"]) > 0 {
				files++
			}
		case *corev1.ConfigMap:
			if o.Data["team-r-uid-r.yaml"] != "" {
				rules++
			}
		}
	}
	if files != 1 || rules != 1 {
		t.Errorf("the good monitor's CA is in %d Secrets, the good rule in %d ConfigMaps", files, rules)
	}
}

// takenByTheServer checks that the API server accepts the names, keys, labels and sizes.
func takenByTheServer(t *testing.T, plan Plan) {
	t.Helper()
	for _, step := range append(slices.Clip(plan.Content), plan.Workload...) {
		if step.Verb == apply.Remove {
			continue
		}
		o := step.Whole()
		at := apply.KindOf(o) + " " + o.GetName()
		check := func(what string, wrong []string) {
			for _, w := range wrong {
				t.Errorf("%s: %s: %s", at, what, w)
			}
		}
		check("name", apivalidation.NameIsDNSSubdomain(o.GetName(), false))
		for _, e := range metav1validation.ValidateLabels(o.GetLabels(), field.NewPath("labels")) {
			check("label", []string{e.Error()})
		}
		switch o := o.(type) {
		case *corev1.Secret:
			keysFit(check, o.Data)
		case *corev1.ConfigMap:
			keysFit(check, o.Data)
		case *appsv1.StatefulSet:
			check("name", apivalidation.NameIsDNSLabel(o.Name+"-0", false)) // the hostname of the pod
			for _, e := range metav1validation.ValidateLabels(o.Spec.Template.Labels, field.NewPath("template")) {
				check("label", []string{e.Error()})
			}
			for _, v := range o.Spec.Template.Spec.Volumes {
				check("volume "+v.Name, validation.IsDNS1123Label(v.Name))
			}
		}
	}
}

func keysFit[V string | []byte](check func(string, []string), data map[string]V) {
	total := 0
	for k, v := range data {
		check("key "+k, validation.IsConfigMapKey(k))
		total += len(v)
	}
	if total > corev1.MaxSecretSize {
		check("size", []string{fmt.Sprint(total)})
	}
}

// A valid name and version result either in objects that the API server accepts, or in
// one error that names the field.
func TestNamesOfPrometheus(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1.Prometheus)
		want   string
	}{
		"usual":                {func(*v1.Prometheus) {}, ""},
		"as long as possible":  {func(p *v1.Prometheus) { p.Name = strings.Repeat("p", 40) }, ""},
		"too long for volumes": {func(p *v1.Prometheus) { p.Name = strings.Repeat("p", 41) }, "metadata.name: results in the volume"},
		"too long for pods":    {func(p *v1.Prometheus) { p.Name = strings.Repeat("p", 53) }, "metadata.name: results in the pod"},
		"too long for labels":  {func(p *v1.Prometheus) { p.Name = strings.Repeat("p", 253) }, "metadata.name: results in the label operator.prometheus.io/name"},
		"with a dot":           {func(p *v1.Prometheus) { p.Name = "a.b" }, "metadata.name: results in the pod"},
		"many shards and replicas": {func(p *v1.Prometheus) {
			p.Name, p.Spec.Shards, p.Spec.Replicas = strings.Repeat("p", 40), new(int32(1000)), new(int32(11))
		}, "metadata.name: results in the label controller-revision-hash"},
		"build data":               {func(p *v1.Prometheus) { p.Spec.Version = "3.1.0+build" }, "spec.version: results in the label app.kubernetes.io/version"},
		"Secrets with long names":  {func(p *v1.Prometheus) { p.Spec.Secrets = []string{strings.Repeat("s", 253)} }, ""},
		"Secrets with alike names": {func(p *v1.Prometheus) { p.Spec.Secrets = []string{strings.Repeat("s", 252), strings.Repeat("s", 253)} }, "spec: two volumes are named"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tc.change(s.p)
			in, err := s.gather()
			if err != nil {
				t.Fatal(err)
			}
			plan, err := in.Plan()
			switch {
			case tc.want == "" && err == nil:
				takenByTheServer(t, plan)
			case err == nil || tc.want == "" || !strings.HasPrefix(err.Error(), tc.want):
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// A large file of one object does not move the files of others, because pods see a new
// Secret only after a rollout.
func TestALargeFileMovesNoOther(t *testing.T) {
	s := newScene()
	ca := certificate(t)
	data := map[string][]byte{"ca": []byte(ca)}
	larges := []string{"a-large0", "a-large1", "a-large2", "a-large3"} // together they exceed one Secret
	for _, key := range larges {
		data[key] = []byte(ca + strings.Repeat("\n", 255_000))
	}
	s.references.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "tls"}, Data: data})
	tls := func(key string) *v1.TLSConfig {
		return &v1.TLSConfig{SafeTLSConfig: v1.SafeTLSConfig{CA: v1.SecretOrConfigMap{Secret: secretKey("tls", key)}}}
	}
	s.services[0].Spec.Endpoints[0].TLSConfig = tls("ca")
	live := map[string]*corev1.Secret{}
	where := func() map[string]string {
		out := map[string]string{}
		for _, step := range s.plan(t).Content {
			o, ok := step.Object.(*corev1.Secret)
			if !ok || !strings.HasPrefix(o.Name, "prometheus-web-tls-assets-") || step.Verb == apply.Remove {
				continue
			}
			live[o.Name] = apply.DigestSecret(o)
			for file := range o.Data {
				out[file] = o.Name
			}
		}
		s.secrets = slices.Collect(maps.Values(live))
		return out
	}
	before := where()
	for i, key := range append(larges, "ca") {
		m := s.services[0].DeepCopy()
		m.Name = fmt.Sprintf("%d-other", i)
		m.Spec.Endpoints[0].TLSConfig = tls(key)
		s.services = append(s.services, m)
		after := where()
		if len(before) != 1 || after["0_team_tls_ca"] != before["0_team_tls_ca"] || len(after) < len(before) {
			t.Errorf("files %v, before %v", after, before)
		}
	}
	if after := where(); after["0_team_tls_a-large3"] != "prometheus-web-tls-assets-1" {
		t.Errorf("files %v", after)
	}
}
