package integration

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ruler is a ThanosRuler with the same name as the Prometheus of web.
const ruler = `
apiVersion: monitoring.coreos.com/v1
kind: ThanosRuler
metadata:
  name: web
  namespace: NAMESPACE
  annotations: {operator.prometheus.io/controller-id: "ID"}
spec:
  version: v0.42.4
  replicas: 1
  ruleSelector: {}
  queryEndpoints: ["http://query:9090"]
`

// rule is a PrometheusRule that a ThanosRuler and a Prometheus accept.
const rule = `
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: app, namespace: NAMESPACE}
spec:
  groups: [{name: app, partial_response_strategy: warn, rules: [{record: "app:up", expr: "sum(up)"}]}]
`

// thanosRuler returns a ThanosRuler with only its identity.
func thanosRuler(namespace, name string) *unstructured.Unstructured {
	o := owner(namespace, name)
	o.SetKind("ThanosRuler")
	return o
}

// rulerDeployed applies ruler and rule and waits until they are reconciled and the operator is idle.
func (w *environment) rulerDeployed(t *testing.T, o *operator, id string) (namespace string) {
	t.Helper()
	namespace = w.namespace(t)
	w.apply(t, fill(ruler+rule, namespace, id))
	w.reports(t, thanosRuler(namespace, "web"), "True")
	o.settle(t)
	return namespace
}

// rulerRules returns the contents of the rule ConfigMaps of a ThanosRuler by ConfigMap and file.
func (w *environment) rulerRules(t *testing.T, namespace, name string) map[string]map[string]string {
	t.Helper()
	all, err := w.kube.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "thanos-ruler-name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, m := range all.Items {
		out[m.Name] = m.Data
	}
	return out
}

// rulerRuns waits until the only rule file of the ThanosRuler "web" contains a text.
func (w *environment) rulerRuns(t *testing.T, namespace, text string) {
	t.Helper()
	eventually(t, "the ThanosRuler has the rule "+text, func() error {
		files := map[string]string{}
		for _, m := range w.rulerRules(t, namespace, "web") {
			maps.Copy(files, m)
		}
		for _, content := range files {
			if len(files) == 1 && strings.Contains(content, text) {
				return nil
			}
		}
		return fmt.Errorf("files %v", files)
	})
}

// rulerChildren lists the objects of the ThanosRuler "web", and whether it is their controller.
var rulerChildren = []struct {
	apiVersion, kind, name string
	controls               bool
}{
	{"v1", "ConfigMap", "thanos-ruler-web-rulefiles-0", true},
	{"v1", "Secret", "thanos-ruler-web-config", false},
	{"v1", "Secret", "thanos-ruler-web-tls-assets-0", true},
	{"v1", "Secret", "thanos-ruler-web-web-config", true},
	{"v1", "Service", "thanos-ruler-operated", false},
	{"apps/v1", "StatefulSet", "thanos-ruler-web", true},
}

// TestRuler covers the life of a ThanosRuler: the written objects and the columns of kubectl, changes of its rules and
// of itself, manual edits, and deletion.
func TestRuler(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler", "", "--controller-id=ruler")
	var ns string
	calls := o.during(t, func() { ns = w.rulerDeployed(t, o, "ruler") })
	t.Run("each object is written once", func(t *testing.T) {
		var created []string
		for _, c := range calls {
			switch {
			case !c.writes() || c.Object.Resource == "events" || c.what() == "patch thanosrulers/status web":
			case c.Verb == "create" && c.Response.Code < 300:
				created = append(created, c.Object.Resource)
			case c.what() == "update configmaps thanos-ruler-web-rulefiles-0": // the rule was reconciled later
			default:
				t.Errorf("call %s", c.what())
			}
		}
		if want := []string{"configmaps", "secrets", "secrets", "secrets", "services", "statefulsets"}; !slices.Equal(created, want) {
			t.Errorf("created %q, want %q", created, want)
		}
	})
	t.Run("owner references", func(t *testing.T) { w.rulerOwns(t, ns) })
	t.Run("kubectl shows it", func(t *testing.T) {
		w.available(t, thanosRuler(ns, "web"))
		w.rulerColumns(t, ns, "NAME VERSION REPLICAS READY RECONCILED AVAILABLE AGE", "web v0.42.4 1 1 True True")
		o.settle(t)
	})
	t.Run("a rule changes one ConfigMap", func(t *testing.T) {
		wantCalls(t, o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[{"name":"app","rules":[{"record":"changed:up","expr":"sum(up)"}]}]}}`)
			w.rulerRuns(t, ns, "changed:up")
		}), "update configmaps thanos-ruler-web-rulefiles-0")
	})
	t.Run("changes that do not matter", func(t *testing.T) {
		wantCalls(t, o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`)
			w.apply(t, podMonitor(ns, "none-of-its-business", "x"))
		}))
	})
	t.Run("its labels reach the StatefulSet and no pod", func(t *testing.T) {
		before, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "thanos-ruler-web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"metadata":{"labels":{"team":"a"}}}`)
		w.waitFor(t, stateful(ns, "thanos-ruler-web"), "has the label", func(s *unstructured.Unstructured) error {
			if s.GetLabels()["team"] != "a" || s.GetGeneration() != before.Generation || s.GetUID() != before.UID {
				return fmt.Errorf("labels %v, generation %d, was %d", s.GetLabels(), s.GetGeneration(), before.Generation)
			}
			return nil
		})
		o.settle(t)
	})
	t.Run("a field reaches the pods", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"evaluationInterval":"17s"}}`)
			w.waitFor(t, stateful(ns, "thanos-ruler-web"), "has the argument", func(s *unstructured.Unstructured) error {
				if !strings.Contains(fmt.Sprint(s.Object["spec"]), "--eval-interval=17s") {
					return fmt.Errorf("it has not")
				}
				return nil
			})
			w.reports(t, thanosRuler(ns, "web"), "True")
			w.becomesReady(t, ns, "thanos-ruler-web-0", "")
		})
		for _, c := range calls {
			if c.writes() && c.what() != "update statefulsets thanos-ruler-web" && c.what() != "patch thanosrulers/status web" {
				t.Errorf("call %s", c.what())
			}
		}
	})
	for _, c := range rulerChildren {
		t.Run("deleted "+c.kind+" "+c.name, func(t *testing.T) {
			before, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
			if err != nil {
				t.Fatal(err)
			}
			w.delete(t, c.apiVersion, c.kind, ns, c.name)
			w.again(t, before)
			o.settle(t)
		})
	}
	for name, edit := range map[string]struct {
		child int
		patch string
	}{
		"rules":               {0, `{"data":{"evil.yaml":"groups: []"}}`},
		"label of the rules":  {0, `{"metadata":{"labels":{"thanos-ruler-name":null}}}`},
		"remote write":        {1, `{"data":{"remote-write.yaml":"aGFjaw=="}}`},
		"owner reference":     {1, `{"metadata":{"ownerReferences":null}}`},
		"web configuration":   {3, `{"data":{"web-config.yaml":"aGFjaw=="}}`},
		"port of the Service": {4, `{"spec":{"ports":[{"name":"web","port":80,"targetPort":"web"}]}}`},
		"replicas":            {5, `{"spec":{"replicas":5}}`},
		"label that finds it": {5, `{"metadata":{"labels":{"app.kubernetes.io/name":null}}}`},
	} {
		t.Run("edited "+name, func(t *testing.T) {
			c := rulerChildren[edit.child]
			before, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
			if err != nil {
				t.Fatal(err)
			}
			w.patch(t, c.apiVersion, c.kind, ns, c.name, edit.patch)
			w.waitFor(t, before, "is restored", func(now *unstructured.Unstructured) error { return sameContent(before, now) })
			o.settle(t)
		})
	}
	t.Run("all go with it", func(t *testing.T) {
		w.delete(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
		for _, c := range rulerChildren {
			w.gone(t, c.apiVersion, c.kind, ns, c.name)
		}
		o.settle(t)
		if v, err := o.metric("prometheus_operator_syncs", "controller", "thanos"); err != nil || v != 0 {
			t.Errorf("syncs of a deleted ThanosRuler: %v, %v", v, err)
		}
		if v, err := o.metric("prometheus_operator_managed_resources", "controller", "thanos"); err == nil && v != 0 {
			t.Errorf("managed resources of a deleted ThanosRuler: %v", v)
		}
	})
	if text := o.log.String(); strings.Contains(text, "level=error") {
		t.Error("the log has errors")
	}
}

// rulerOwns checks the owner references of the objects of the ThanosRuler "web".
func (w *environment) rulerOwns(t *testing.T, ns string) {
	t.Helper()
	tr, err := w.get(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rulerChildren {
		o, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		refs := o.GetOwnerReferences()
		if len(refs) != 1 || refs[0].UID != tr.GetUID() || refs[0].Kind != "ThanosRuler" || metav1.IsControlledBy(o, tr) != c.controls {
			t.Errorf("%s %s: owners %v", c.kind, c.name, refs)
		}
		if o.GetLabels()["managed-by"] != "prometheus-operator" {
			t.Errorf("%s %s: labels %v", c.kind, c.name, o.GetLabels())
		}
	}
}

// rulerColumns compares the output of kubectl get for the ThanosRuler "web", without its age.
func (w *environment) rulerColumns(t *testing.T, ns string, want ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(w.cluster.Dir, "bin", "kubectl"), "get", "ruler", "-n", ns, "web")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if i >= len(want) || !strings.HasPrefix(strings.Join(strings.Fields(line), " "), want[i]) {
			t.Errorf("kubectl prints\n%s", out)
		}
	}
}

// Nothing is written for a ThanosRuler that could not start, there are no retries, and the fix takes effect
// immediately.
func TestRulerWithoutQueryEndpoints(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-query", "", "--controller-id=ruler-query")
	ns := w.namespace(t)
	w.apply(t, fill(strings.Replace(ruler, `["http://query:9090"]`, "[]", 1)+rule, ns, "ruler-query"))
	tr := w.reports(t, thanosRuler(ns, "web"), "False", "ReconciliationFailed")
	if text := fmt.Sprint(tr.Object["status"]); !strings.Contains(text, "spec.queryEndpoints: must not be empty unless queryConfig is set") {
		t.Errorf("status %s", text)
	}
	if err := hasCondition(tr, "Available", "False", "StatefulSetNotFound"); err != nil {
		t.Error(err)
	}
	o.settle(t)
	for _, c := range rulerChildren {
		if _, err := w.get(t, c.apiVersion, c.kind, ns, c.name); !apierrors.IsNotFound(err) {
			t.Errorf("%s %s was written: %v", c.kind, c.name, err)
		}
	}
	if n := strings.Count(o.log.String(), "spec.queryEndpoints: must not be empty"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	if v, err := o.metric("prometheus_operator_workqueue_retries_total", "name", "thanosruler"); err != nil || v != 0 {
		t.Errorf("%v retries, %v", v, err)
	}
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"queryEndpoints":["http://query:9090"]}}`)
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.rulerOwns(t, ns)
	w.rulerRuns(t, ns, "app:up")

	// While a field is invalid, the running objects are kept and changes of rules are not applied.
	o.settle(t)
	calls := o.during(t, func() {
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"queryEndpoints":["ftp://query"]}}`)
		w.reports(t, thanosRuler(ns, "web"), "False", "ReconciliationFailed")
		w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[{"name":"app","rules":[{"record":"changed:up","expr":"sum(up)"}]}]}}`)
	})
	for _, c := range calls {
		if c.writes() && c.resource() != "thanosrulers/status" && c.Object.Resource != "events" {
			t.Errorf("call %s", c.what())
		}
	}
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"queryEndpoints":["dnssrv+_http._tcp.query"]}}`)
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.rulerRuns(t, ns, "changed:up")
}
