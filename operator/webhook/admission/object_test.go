package admission

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// objectKinds returns all kinds of workloads.
func objectKinds() []*engine.Kind {
	options := controllerstest.Options()
	options.Capabilities.AgentDaemonSet = true
	return controllerstest.Kinds(options)
}

// about reviews an object with this spec.
func about(t testing.TB, resource, spec string) *admissionv1.AdmissionResponse {
	t.Helper()
	return ask(t, New(Options{Kinds: objectKinds}), ValidateObjectsPath, request(toJSON(t, "metadata: {name: a}\nspec: "+spec), resource))
}

func TestValidateObjects(t *testing.T) {
	for resource, tc := range map[string]struct{ good, bad, want string }{
		"servicemonitors v1":        {"{selector: {}, endpoints: [{port: web}]}", "{selector: {}, endpoints: [{port: web, interval: 1s, scrapeTimeout: 2s}]}", "spec.endpoints[0].scrapeTimeout: 2s is longer than the interval 1s; set a longer interval, or a shorter timeout"},
		"podmonitors v1":            {"{selector: {}, podMetricsEndpoints: [{port: web}]}", "{selector: {}, podMetricsEndpoints: [{port: web, relabelings: [{action: replace}]}]}", "spec.podMetricsEndpoints[0].relabelings[0].targetLabel: replace needs one"},
		"probes v1":                 {"{prober: {url: a}, targets: {staticConfig: {static: [b]}}}", "{prober: {url: a}, targets: {}}", "spec.targets: one of staticConfig and ingress is needed"},
		"scrapeconfigs v1alpha1":    {"{staticConfigs: [{targets: [a]}]}", "{scrapeInterval: 1s, scrapeTimeout: 2s}", "spec.scrapeTimeout: 2s is longer than the interval 1s; set a longer interval, or a shorter timeout"},
		"prometheuses v1":           {"{serviceMonitorSelector: {}}", "{version: v1.8.0}", `spec.version: unsupported version "v1.8.0": the major version must be 2 or 3`},
		"prometheusagents v1alpha1": {"{mode: DaemonSet, podMonitorSelector: {}}", "{scrapeInterval: 1s, scrapeTimeout: 2s}", "spec.scrapeTimeout: 2s is longer than the interval 1s; set a longer interval, or a shorter timeout"},
		"alertmanagers v1":          {"{}", "{clusterAdvertiseAddress: here}", "spec.clusterAdvertiseAddress: must be HOST:PORT"},
		"thanosrulers v1":           {"{queryEndpoints: [q]}", "{}", "spec.queryEndpoints: must not be empty unless queryConfig is set"},
	} {
		t.Run(resource, func(t *testing.T) {
			if got := causes(t, about(t, resource, tc.good)); got != "" {
				t.Errorf("refused: %s", got)
			}
			r := about(t, resource, tc.bad)
			if got := causes(t, r); got != tc.want || r.Result.Details.Name != strings.Fields(resource)[0] {
				t.Errorf("got %q, want %q; details %+v", got, tc.want, r.Result)
			}
			if got := causes(t, about(t, resource, "[]")); got != "spec: want an object, got a list" {
				t.Errorf("a list: %q", got)
			}
		})
	}
	for _, resource := range []string{"prometheusrules v1", "alertmanagerconfigs v1alpha1", "alertmanagerconfigs v1beta1", "prometheuses v2", "scrapeconfigs v1"} {
		r := about(t, resource, "{}")
		if want := strings.Replace(resource, " ", ".monitoring.coreos.com ", 1) + " is not checked here"; causes(t, r) != want {
			t.Errorf("%s: %+v", resource, r.Result)
		}
	}
	w := post(t, New(Options{}), ValidateObjectsPath, strings.NewReader("{}"))
	if w.Code != 404 {
		t.Errorf("without kinds the path answers %d", w.Code)
	}
}

// Fields without effect cause warnings, not a rejection.
func TestWarnings(t *testing.T) {
	r := about(t, "prometheuses v1", "{version: v2.45.0, serviceMonitorSelector: {}, scrapeProtocols: [OpenMetricsText1.0.0]}")
	if want := "[Prometheus demo/a: spec.scrapeProtocols: global.scrape_protocols needs Prometheus >= 2.49.0 and is left out]"; !r.Allowed || fmt.Sprint(r.Warnings) != want {
		t.Errorf("%+v, want %s", r, want)
	}
	var writes []string
	for i := range 30 {
		writes = append(writes, fmt.Sprintf("{url: 'http://w%d', writeRelabelConfigs: [{sourceLabels: [a], targetLabel: b}]}", i))
	}
	r = about(t, "thanosrulers v1", "{queryEndpoints: [q], version: v0.41.0, remoteWrite: ["+strings.Join(writes, ",")+"]}")
	if n := len(r.Warnings); !r.Allowed || n != maxWarnings+1 || r.Warnings[n-1] != "and 20 more" {
		t.Errorf("%d warnings: %q", n, r.Warnings)
	}
}

// Labels and finalizers of an invalid object can be changed.
func TestUnchangedSpecs(t *testing.T) {
	const monitor = "metadata: {name: a, labels: {team: LABEL}}\nspec: {selector: {}, endpoints: [{port: web, interval: 1s, scrapeTimeout: TIMEOUT}]}"
	object := func(label, timeout string) []byte {
		return toJSON(t, strings.NewReplacer("LABEL", label, "TIMEOUT", timeout).Replace(monitor))
	}
	largeRule := "{record: a, expr: '" + strings.Repeat("a", maxRuleBytes) + "'}"
	for name, tc := range map[string]struct {
		path, resource string
		op             admissionv1.Operation
		before, after  []byte
		allowed        bool
	}{
		"label":              {ValidateObjectsPath, "servicemonitors v1", admissionv1.Update, object("a", "2s"), object("b", "2s"), true},
		"spec":               {ValidateObjectsPath, "servicemonitors v1", admissionv1.Update, object("a", "2s"), object("a", "3s"), false},
		"mended":             {ValidateObjectsPath, "servicemonitors v1", admissionv1.Update, object("a", "2s"), object("a", "1s"), true},
		"created":            {ValidateObjectsPath, "servicemonitors v1", admissionv1.Create, object("a", "2s"), object("a", "2s"), false},
		"deleted":            {ValidateObjectsPath, "servicemonitors v1", admissionv1.Delete, object("a", "2s"), nil, true},
		"without the former": {ValidateObjectsPath, "servicemonitors v1", admissionv1.Update, nil, object("a", "2s"), false},
		"being deleted": {ValidateObjectsPath, "servicemonitors v1", admissionv1.Update, object("a", "2s"),
			bytes.Replace(object("a", "3s"), []byte(`"name"`), []byte(`"deletionTimestamp":"2026-01-01T00:00:00Z","name"`), 1), true},
		"not decodable": {ValidateObjectsPath, "servicemonitors v1", admissionv1.Update, object("a", "{}"), object("b", "{}"), true},
		"rule": {ValidateRulesPath, "prometheusrules v1", admissionv1.Update, toJSON(t, ruleObject("{record: a, expr: '('}")),
			bytes.Replace(toJSON(t, ruleObject("{record: a, expr: '('}")), []byte(`"uid":"u"`), []byte(`"uid":"u","finalizers":["a/b"]`), 1), true},
		"large rule": {MutateRulesPath, "prometheusrules v1", admissionv1.Update, toJSON(t, ruleObject(largeRule)),
			bytes.Replace(toJSON(t, ruleObject(largeRule)), []byte(`"uid":"u"`), []byte(`"uid":"u","finalizers":["a/b"]`), 1), true},
		"another large rule": {MutateRulesPath, "prometheusrules v1", admissionv1.Update, toJSON(t, ruleObject("{record: a, expr: up}")), toJSON(t, ruleObject(largeRule)), false},
		"another rule":       {ValidateRulesPath, "prometheusrules v1", admissionv1.Update, toJSON(t, ruleObject("{record: a, expr: '('}")), toJSON(t, ruleObject("{record: a, expr: '(('}")), false},
		"AlertmanagerConfig": {ValidateAlertmanagerConfigsPath, "alertmanagerconfigs v1beta1", admissionv1.Update,
			toJSON(t, "metadata: {name: a}\nspec: {route: {receiver: nobody}}"), toJSON(t, "metadata: {name: a, labels: {a: b}}\nspec: {route: {receiver: nobody}}"), true},
		"another AlertmanagerConfig": {ValidateAlertmanagerConfigsPath, "alertmanagerconfigs v1beta1", admissionv1.Update,
			toJSON(t, "metadata: {name: a}\nspec: {route: {receiver: nobody}}"), toJSON(t, "metadata: {name: a}\nspec: {route: {receiver: none}}"), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(tc.after, tc.resource)
			r.Operation, r.OldObject = tc.op, runtime.RawExtension{Raw: tc.before}
			if got := ask(t, New(Options{Kinds: objectKinds}), tc.path, r); got.Allowed != tc.allowed {
				t.Errorf("%+v", got)
			}
		})
	}
	r := request(object("a", "2s"), "servicemonitors v1")
	r.SubResource = "status"
	if got := ask(t, New(Options{Kinds: objectKinds}), ValidateObjectsPath, r); !got.Allowed {
		t.Errorf("a status: %+v", got)
	}
}

// A rejection does not reveal passwords in URLs and headers.
func TestNoSecretsInObjectRefusals(t *testing.T) {
	for resource, spec := range map[string]string{
		"prometheuses v1":  "{serviceMonitorSelector: {}, remoteWrite: [{url: 'http://user:hunter2@host/%zz'}]}",
		"alertmanagers v1": "{externalUrl: 'ftp://user:hunter2@host/'}",
		"thanosrulers v1":  "{queryEndpoints: ['ftp://user:hunter2@host/']}",
		"probes v1":        "{prober: {url: 'http://user:hunter2@host/'}, targets: {staticConfig: {static: [b]}}}",
	} {
		r := about(t, resource, spec)
		if text := fmt.Sprintf("%+v %q", r.Result, r.Warnings); strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", resource, text)
		}
	}
}

// Any object that fits into a request is checked in about a second. The limit allows for loaded
// machines and the race detector.
func TestHostileObjects(t *testing.T) {
	var steps, endpoints []string
	for i := range 20_000 {
		steps = append(steps, fmt.Sprintf(`{regex: 'a%d\\pL{900}', action: labeldrop}`, i))
		endpoints = append(endpoints, fmt.Sprintf("{port: a%d, basicAuth: {username: {name: s%d, key: k}, password: {name: s%d, key: p}}}", i, i, i))
	}
	for name, spec := range map[string]string{
		"regular expressions": "{selector: {}, endpoints: [{port: a, relabelings: [" + strings.Join(steps, ",") + "]}]}",
		"endpoints":           "{selector: {}, endpoints: [" + strings.Join(endpoints, ",") + "]}",
	} {
		t.Run(name, func(t *testing.T) {
			raw := toJSON(t, "metadata: {name: a}\nspec: "+spec)
			begin := cputime.Now()
			ask(t, New(Options{Kinds: objectKinds}), ValidateObjectsPath, request(raw, "servicemonitors v1"))
			took := cputime.Since(begin)
			t.Logf("%d bytes took %s", len(raw), took)
			if took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

// Lists of short texts in workloads, of which each becomes a volume or is compared, cost a few times their length.
func TestLongListsOfWorkloads(t *testing.T) {
	var names strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&names, `"a%d",`, i)
	}
	list := "[" + strings.TrimSuffix(names.String(), ",") + "]"
	for name, tc := range map[string]struct{ resource, spec, want string }{
		"endpoints":                {"thanosrulers v1", `{"queryEndpoints":` + list + `}`, ""},
		"Secrets":                  {"alertmanagers v1", `{"secrets":` + list + `}`, "spec.secrets: has more than 2500 elements, the limit of one Alertmanager"},
		"ConfigMaps":               {"prometheuses v1", `{"configMaps":` + list + `}`, "spec.configMaps: has more than 2500 elements, the limit of one Prometheus"},
		"Secrets of an agent":      {"prometheusagents v1alpha1", `{"secrets":` + list + `}`, "spec.secrets: has more than 2500 elements, the limit of one PrometheusAgent"},
		"labels of OTLP":           {"prometheuses v1", `{"otlp":{"promoteResourceAttributes":` + list + `}}`, ""},
		"labels that are left out": {"thanosrulers v1", `{"queryEndpoints":["a"],"alertDropLabels":` + list + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, r := New(Options{Kinds: objectKinds}), request([]byte(`{"metadata":{"name":"a"},"spec":`+tc.spec+`}`), tc.resource)
			begin := cputime.Now()
			budgettest.AtMost(t, name, 256<<20, func() {
				if got := causes(t, ask(t, h, ValidateObjectsPath, r)); !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
					t.Errorf("got %.200s, want %s", got, tc.want)
				}
			})
			if took := cputime.Since(begin); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}
