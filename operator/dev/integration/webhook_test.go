package integration

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// webhook is a running admission-webhook.
type webhook struct {
	*operator
	dir  string // folder of its certificate
	addr string
}

var webhookListens = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+) tls=true`)

// webhook starts a webhook and returns it with the CA of its certificate. It has no permissions.
func (w *environment) webhook(t *testing.T) (h *webhook, ca string) {
	t.Helper()
	h = &webhook{dir: t.TempDir()}
	ca = h.issue(t)
	h.operator = w.launch(t, "webhook", "admission-webhook", "--web.tls-reload-interval=0s", "--web.client-ca-file=",
		"--web.cert-file="+filepath.Join(h.dir, "tls.crt"), "--web.key-file="+filepath.Join(h.dir, "tls.key"))
	eventually(t, "the webhook listens", func() error {
		m := webhookListens.FindStringSubmatch(h.log.String())
		if m == nil {
			return errors.New(h.log.String())
		}
		h.addr = m[1]
		return nil
	})
	return h, ca
}

// issue gives the webhook a certificate of a new CA, and returns the CA.
func (h *webhook) issue(t *testing.T) (ca string) {
	t.Helper()
	chain, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"tls.crt": chain, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(h.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return string(chain)
}

// reachedAt replaces the Service in a clientConfig by a URL.
func (h *webhook) reachedAt(t *testing.T, config map[string]any, ca string) {
	t.Helper()
	path, found, err := unstructured.NestedString(config, "service", "path")
	if !found || err != nil {
		t.Fatalf("no path in %v", config)
	}
	delete(config, "service")
	config["url"], config["caBundle"] = "https://"+h.addr+path, base64.StdEncoding.EncodeToString([]byte(ca))
}

// configure applies the webhook configurations of the component, and the CRD with both versions.
func (w *environment) configure(t *testing.T, h *webhook, ca string) {
	t.Helper()
	component := func(name string) []byte {
		text, err := os.ReadFile(deploy(t, "components/"+name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	applied := func(o map[string]any) {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		w.apply(t, string(text))
	}
	hooks := string(component("webhook/configurations.yaml")) + "\n---\n" + string(component("webhook-validate-all/configuration.yaml"))
	for doc := range strings.SplitSeq(hooks, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		for _, hook := range o["webhooks"].([]any) {
			h.reachedAt(t, hook.(map[string]any)["clientConfig"].(map[string]any), ca)
		}
		applied(o)
	}
	var crd, conversion map[string]any
	if err := errors.Join(yaml.Unmarshal(component("webhook-conversion/versions.yaml"), &crd), yaml.Unmarshal(component("webhook-conversion/conversion.yaml"), &conversion)); err != nil {
		t.Fatal(err)
	}
	config := conversion["spec"].(map[string]any)["conversion"].(map[string]any)
	h.reachedAt(t, config["webhook"].(map[string]any)["clientConfig"].(map[string]any), ca)
	crd["spec"].(map[string]any)["conversion"] = config
	applied(crd)
	w.established(t)
}

// refused creates an object, expects that it is rejected, and returns the error.
func (w *environment) refused(t *testing.T, manifest string) (*metav1.Status, error) {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatal(err)
	}
	_, err := w.of(t, o).Create(t.Context(), o, metav1.CreateOptions{})
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return nil, fmt.Errorf("not refused: %w", err)
	}
	return &status.ErrStatus, nil
}

// alertmanagerConfigs returns the resource of AlertmanagerConfigs in a version.
func alertmanagerConfigs(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: version, Resource: "alertmanagerconfigs"}
}

func ruleOf(ns, name, rule string) string {
	return fmt.Sprintf("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: %s, namespace: %s}\nspec: {groups: [{name: g, rules: [%s]}]}\n", name, ns, rule)
}

const betaConfig = `
apiVersion: monitoring.coreos.com/v1beta1
kind: AlertmanagerConfig
metadata: {name: beta, namespace: NAMESPACE, labels: {team: a}}
spec:
  route:
    receiver: hook
    matchers: [{name: team, value: a, matchType: "=~"}]
    routes: [{receiver: hook, continue: true, muteTimeIntervals: [night]}]
  timeIntervals: [{name: night, timeIntervals: [{times: [{startTime: "22:00", endTime: "23:00"}]}]}]
  receivers:
  - {name: hook, webhookConfigs: [{url: "http://hook/"}], emailConfigs: [{to: a@b, from: c@d, smarthost: "h:25"}]}
`

// TestWebhooks tests the component with a separate API server: rejections and mutations on apply, an AlertmanagerConfig
// in the other version, certificate rotation, and writes while the webhook is down.
func TestWebhooks(t *testing.T) {
	shared := start(t)
	t.Parallel()
	w := newEnvironment(t, clustertest.Start(t, cluster.Options{ControllerManager: true}))
	w.program, w.commands = shared.program, shared.commands
	w.applyFile(t, deploy(t, "namespace.yaml"))
	w.applyFile(t, deploy(t, "rbac.yaml"))
	w.applyFolder(t, deploy(t, "crds"))
	w.established(t)
	h, ca := w.webhook(t)
	ns := w.namespace(t)
	strange, plain := w.namespace(t), w.namespace(t)
	w.create(t, strings.ReplaceAll(strangeConfig, "NAMESPACE", strange))
	w.create(t, slowMonitor(ns, "stored", "20s"))
	w.configure(t, h, ca)
	eventually(t, "a bad rule is refused", func() error { // the API server applies webhook configurations with a delay
		_, err := w.refused(t, ruleOf(ns, "probe-"+fmt.Sprint(len(h.log.String())), "{record: a, expr: '('}"))
		return err
	})

	t.Run("PrometheusRules", func(t *testing.T) { w.checksRules(t, ns) })
	t.Run("AlertmanagerConfigs", func(t *testing.T) { w.checksAlertmanagerConfigs(t, ns) })
	t.Run("other kinds", func(t *testing.T) { w.checksObjects(t, ns) })
	t.Run("a strange object", func(t *testing.T) { w.convertsStrange(t, strange, plain) })
	t.Run("v1beta1", func(t *testing.T) { w.converts(t, ns) })
	t.Run("a new certificate", func(t *testing.T) {
		next := h.issue(t) // of an unknown CA; in practice the API server is configured with it first
		w.configure(t, h, ca+next)
		w.servesOn(t, ns)
	})
	t.Run("the operator keeps the certificate", func(t *testing.T) { w.keepsCertificate(t, h, ns) })
	t.Run("without the webhook", func(t *testing.T) { w.goesOnWithout(t, h, ns) })
}

func (w *environment) checksRules(t *testing.T, ns string) {
	s, err := w.refused(t, ruleOf(ns, "bad", "{alert: A, expr: vector(1)), annotations: {a: '{{ $labels.job | printf “%s” }}'}}"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Reason != metav1.StatusReasonInvalid || s.Code != 422 || len(s.Details.Causes) != 2 ||
		s.Details.Causes[0].Field != "spec.groups[0].rules[0].expr" || s.Details.Causes[1].Field != `spec.groups[0].rules[0].annotations["a"]` {
		t.Errorf("refused with %+v", s)
	}
	const want = `admission webhook "prometheusrulevalidate.monitoring.coreos.com" denied the request: PrometheusRule is invalid: spec.groups[0].rules[0].expr: `
	if !strings.HasPrefix(s.Message, want) {
		t.Errorf("message %s", s.Message)
	}
	_, err = w.cluster.KubectlInput(t.Context(), []byte(ruleOf(ns, "bad", "{alert: A, expr: vector(1))}")), "apply", "-f", "-")
	if want := `The  "prometheusrules" is invalid: spec.groups[0].rules[0].expr: 1:11: parse error: unexpected right parenthesis ')' (group "g", alert "A")`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("kubectl prints %v, want %s", err, want) // as documented in docs/webhooks.md
	}
	// A server-side apply of them fails before any webhook is called.
	w.create(t, ruleOf(ns, "loose", "{alert: A, expr: up, labels: {page: true, level: 1000000}, annotations: {c: 1.50}}"))
	o, err := w.get(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "loose")
	if err != nil {
		t.Fatal(err)
	}
	groups, _, _ := unstructured.NestedSlice(o.Object, "spec", "groups")
	rule := groups[0].(map[string]any)["rules"].([]any)[0]
	if got := fmt.Sprint(rule); got != "map[alert:A annotations:map[c:1.5] expr:up labels:map[level:1000000 page:true]]" {
		t.Errorf("stored %s", got)
	}
	if o.GetAnnotations()["prometheus-operator-validated"] != "true" {
		t.Errorf("annotations %v", o.GetAnnotations())
	}
}

func (w *environment) checksAlertmanagerConfigs(t *testing.T, ns string) {
	for version, field := range map[string]string{"v1alpha1": "muteTimeIntervals", "v1beta1": "timeIntervals"} {
		s, err := w.refused(t, strings.NewReplacer("v1beta1", version, "timeIntervals: [{name: night", field+": [{name: night", "NAMESPACE", ns, "22:00", "23:30", "name: beta", "name: bad").Replace(betaConfig))
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if want := "AlertmanagerConfig is invalid: spec." + field + "[0].timeIntervals[0].times[0]"; !strings.Contains(s.Message, want) {
			t.Errorf("%s: %s, want %s", version, s.Message, want)
		}
	}
}

// converts applies an object as v1beta1, reads it as v1alpha1, and lets an operator use it.
func (w *environment) converts(t *testing.T, ns string) {
	config := strings.ReplaceAll(betaConfig, "NAMESPACE", ns)
	w.apply(t, config)
	for version, field := range map[string]string{"v1alpha1": "muteTimeIntervals", "v1beta1": "timeIntervals"} {
		o, err := w.objects.Resource(alertmanagerConfigs(version)).Namespace(ns).Get(t.Context(), "beta", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		intervals, found, _ := unstructured.NestedSlice(o.Object, "spec", field)
		if !found || len(intervals) != 1 || o.GetLabels()["team"] != "a" {
			t.Errorf("%s: %v", version, o.Object)
		}
		list, err := w.objects.Resource(alertmanagerConfigs(version)).Namespace(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 || list.Items[0].GetAPIVersion() != "monitoring.coreos.com/"+version {
			t.Errorf("%s: %v %v", version, list, err)
		}
	}
	w.operator(t, "converts", "", "--controller-id=converts")
	w.apply(t, fill(alertmanager, ns, "converts"))
	for _, want := range []string{ns + "/beta/hook", ns + "/beta/night", `team=~"a"`, "url: http://hook/"} {
		w.alertmanagerRuns(t, ns, want, true)
	}
	w.apply(t, strings.ReplaceAll(config, "http://hook/", "http://other/"))
	w.alertmanagerRuns(t, ns, "url: http://other/", true)
}

// goesOnWithout stops the webhook: writes of other kinds and deletions still work.
func (w *environment) goesOnWithout(t *testing.T, h *webhook, ns string) {
	h.stop(t)
	if _, err := w.refused(t, ruleOf(ns, "later", "{record: a, expr: '1'}")); err != nil {
		t.Error(err) // the failure policy is Fail
	}
	w.apply(t, "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: later, namespace: "+ns+"}\nspec: {selector: {}, endpoints: []}")
	w.apply(t, "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: later, namespace: "+ns+"}\nspec: {}")
	w.create(t, slowMonitor(ns, "unchecked", "20s"))
	w.delete(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "loose")
	w.patch(t, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "firekeeper-prometheusrules", `{"webhooks":null}`)
	w.patch(t, "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "firekeeper-prometheusrules", `{"webhooks":null}`)
	eventually(t, "rules are written without webhooks", func() error {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(ruleOf(ns, "later", "{record: a, expr: '1'}")), &o.Object); err != nil {
			t.Fatal(err)
		}
		_, err := w.of(t, o).Create(t.Context(), o, metav1.CreateOptions{})
		return err
	})
}
