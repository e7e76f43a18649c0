package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The namespaces in --namespaces and --deny-namespaces need not exist when the operator starts.
func TestNamespacesThatComeLater(t *testing.T) {
	w := start(t)
	t.Parallel()
	const named, denied = "comes-later", "comes-later-too"
	w.operator(t, "later", "", "--controller-id=later", "--namespaces="+named)
	w.operator(t, "denies", "", "--controller-id=denies", "--deny-namespaces="+denied)
	for name, id := range map[string]string{named: "later", denied: "denies"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "late"}}}
		if _, err := w.kube.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.apply(t, strings.Replace(fill(web, name, id), "  ruleSelector: {}\n", "  ruleSelector: {}\n  serviceMonitorNamespaceSelector: {matchLabels: {team: late}}\n", 1))
	}
	w.jobs(t, named, "web", "serviceMonitor/"+named+"/app/0")
	w.reconciled(t, named, "web", "True")
	elsewhere := w.namespace(t)
	w.apply(t, prometheusOnly(elsewhere, "web", "denies", "  serviceMonitorNamespaceSelector: {matchLabels: {team: late}}\n"))
	w.jobs(t, elsewhere, "web", "serviceMonitor/"+named+"/app/0")
	if set, err := w.get(t, "apps/v1", "StatefulSet", denied, "prometheus-web"); err == nil {
		t.Errorf("the operator manages a denied namespace: %v", set.GetName())
	}
}

// A governing Service of others with a cluster IP is named; one without any becomes headless. A StatefulSet that waits for
// a finalizer keeps the workload from being reconciled.
func TestObjectsOfOthersThatCannotBeWritten(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "unwritable", "", "--controller-id=unwritable")
	ns := w.namespace(t)
	w.apply(t, fill("{apiVersion: v1, kind: Service, metadata: {name: prometheus-operated, namespace: NAMESPACE}, spec: {ports: [{port: 80}]}}", ns, ""))
	w.apply(t, fill(web, ns, "unwritable"))
	w.reconciled(t, ns, "web", "True", "ServiceNotHeadless")
	w.delete(t, "v1", "Service", ns, "prometheus-operated")
	alias := w.namespace(t)
	w.apply(t, fill("{apiVersion: v1, kind: Service, metadata: {name: prometheus-operated, namespace: NAMESPACE}, spec: {type: ExternalName, externalName: example.org}}", alias, ""))
	w.apply(t, fill(web, alias, "unwritable"))
	for _, in := range []string{ns, alias} {
		w.waitFor(t, owner(in, "web"), "has a headless Service", func(o *unstructured.Unstructured) error {
			s, err := w.get(t, "v1", "Service", in, "prometheus-operated")
			if err != nil {
				return err
			}
			if ip, _, _ := unstructured.NestedString(s.Object, "spec", "clusterIP"); ip != "None" {
				return fmt.Errorf("its cluster IP is %q", ip)
			}
			if hasCondition(o, "Reconciled", "True", "ServiceNotHeadless") == nil {
				return fmt.Errorf("the condition is that of the old one")
			}
			return hasCondition(o, "Reconciled", "True")
		})
	}
	o.settle(t)
	w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"metadata":{"finalizers":["example.org/keep"]}}`)
	w.delete(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"logLevel":"debug"}}`)
	w.reconciled(t, ns, "web", "False", "WaitingForDeletion")
	w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"metadata":{"finalizers":null}}`)
	w.reconciled(t, ns, "web", "True")
}
