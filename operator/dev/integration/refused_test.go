package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Nothing is written until the objects that a workload refers to exist; their creation is noticed.
func TestOwnerNamesWhatIsNotThere(t *testing.T) {
	w := start(t)
	t.Parallel()
	w.operator(t, "refused", "", "--controller-id=refused")
	for name, tc := range map[string]struct {
		patch, message string
		repair         func(t *testing.T, ns string)
		repaired       func(set *unstructured.Unstructured) error
	}{
		"a storage class": {
			patch:   `{"spec":{"storage":{"volumeClaimTemplate":{"spec":{"storageClassName":"NAMESPACE","resources":{"requests":{"storage":"1Gi"}}}}}}}`,
			message: `spec.storage.volumeClaimTemplate.spec.storageClassName: storage class "NAMESPACE" does not exist`,
			repair: func(t *testing.T, ns string) {
				w.apply(t, fill("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAMESPACE}, provisioner: kubernetes.io/no-provisioner}", ns, ""))
				t.Cleanup(func() {
					if err := w.kube.StorageV1().StorageClasses().Delete(context.Background(), ns, metav1.DeleteOptions{}); err != nil {
						t.Error(err)
					}
				})
			},
			repaired: func(set *unstructured.Unstructured) error {
				if claims, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates"); len(claims) != 1 {
					return fmt.Errorf("%d claim templates", len(claims))
				}
				return nil
			},
		},
		"a Service": {
			patch:   `{"spec":{"serviceName":"mine"}}`,
			message: `spec.serviceName: services "mine" not found`,
			repair: func(t *testing.T, ns string) {
				w.apply(t, fill("{apiVersion: v1, kind: Service, metadata: {name: mine, namespace: NAMESPACE}, spec: {clusterIP: None, selector: {app.kubernetes.io/instance: other}}}", ns, ""))
				w.fails(t, ns, `spec.serviceName: selector "app.kubernetes.io/instance=other" of service NAMESPACE/mine does not match`)
				w.patch(t, "v1", "Service", ns, "mine", `{"spec":{"selector":{"app.kubernetes.io/instance":"web"}}}`)
			},
			repaired: func(set *unstructured.Unstructured) error {
				if name, _, _ := unstructured.NestedString(set.Object, "spec", "serviceName"); name != "mine" {
					return fmt.Errorf("serviceName is %q", name)
				}
				if _, err := w.get(t, "v1", "Service", set.GetNamespace(), "prometheus-operated"); !apierrors.IsNotFound(err) {
					return fmt.Errorf("the default Service is there too: %w", err)
				}
				return nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := w.namespace(t)
			prometheus := strings.Split(fill(web, ns, "refused"), "\n---\n")[0]
			w.apply(t, strings.Replace(prometheus, "spec:", "spec:\n  paused: true", 1))
			w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", strings.ReplaceAll(strings.Replace(tc.patch, `"spec":{`, `"spec":{"paused":false,`, 1), "NAMESPACE", ns))
			w.fails(t, ns, tc.message)
			// The configuration does not depend on the objects that run the pods.
			for _, c := range children {
				_, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
				if pods := c.kind == "StatefulSet" || c.kind == "Service"; apierrors.IsNotFound(err) != pods {
					t.Errorf("%s %s: %v", c.kind, c.name, err)
				}
			}
			tc.repair(t, ns)
			w.reconciled(t, ns, "web", "True")
			set, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
			if err == nil {
				err = tc.repaired(set)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// fails waits until the Prometheus "web" reports a failed reconciliation with this prefix of the message.
func (w *environment) fails(t *testing.T, ns, message string) {
	t.Helper()
	w.waitFor(t, owner(ns, "web"), "reports the failure", func(o *unstructured.Unstructured) error {
		if err := hasCondition(o, "Reconciled", "False", "ReconciliationFailed"); err != nil {
			return err
		}
		want := strings.ReplaceAll(message, "NAMESPACE", ns)
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		if !strings.Contains(fmt.Sprint(conditions), want) {
			return fmt.Errorf("conditions %v, want the message %s", conditions, want)
		}
		return nil
	})
}

// A Prometheus with only additional scrape configurations has a configuration but selects nothing.
func TestAdditionalScrapeConfigsAlone(t *testing.T) {
	w := start(t)
	t.Parallel()
	w.operator(t, "additional", "", "--controller-id=additional")
	ns := w.namespace(t)
	w.apply(t, fill(`
{apiVersion: v1, kind: Secret, metadata: {name: more, namespace: NAMESPACE}, stringData: {jobs: "- job_name: mine\n  static_configs: [{targets: [\"a:1\"]}]\n"}}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: web, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec: {serviceMonitorSelector: {}, additionalScrapeConfigs: {name: more, key: jobs}}
`, ns, "additional"))
	w.reconciled(t, ns, "web", "True", "NoSelectedResources")
	w.jobs(t, ns, "web", "mine")
}
