package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prometheusOnly returns a Prometheus that selects every monitor of its namespace.
func prometheusOnly(namespace, name, id, more string) string {
	return fill(fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: %s, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec:
  serviceMonitorSelector: {}
%s`, name, more), namespace, id)
}

// shared returns the fields of a Service that its workloads share: "ports; owners".
func (w *environment) shared(t *testing.T, namespace, name string) (string, error) {
	t.Helper()
	s, err := w.get(t, "v1", "Service", namespace, name)
	if err != nil {
		return "", err
	}
	var ports, owners []string
	list, _, _ := unstructured.NestedSlice(s.Object, "spec", "ports")
	for _, p := range list {
		ports = append(ports, fmt.Sprint(p.(map[string]any)["name"]))
	}
	for _, r := range s.GetOwnerReferences() {
		if r.Controller != nil || r.BlockOwnerDeletion != nil {
			t.Errorf("%s owns the Service as a controller does", r.Name)
		}
		owners = append(owners, r.Name)
	}
	return strings.Join(ports, " ") + "; " + strings.Join(owners, " "), nil
}

// Prometheus objects that need different ports share one governing Service, and each change is written once.
func TestGoverningServiceIsShared(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "shared-service", "", "--controller-id=shared-service")
	ns := w.namespace(t)
	is := func(want string) {
		t.Helper()
		eventually(t, "the Service is "+want, func() error {
			if got, err := w.shared(t, ns, "prometheus-operated"); err != nil || got != want {
				return fmt.Errorf("it is %s, %v", got, err)
			}
			return nil
		})
		o.settle(t)
	}
	w.apply(t, prometheusOnly(ns, "plain", "shared-service", ""))
	w.reconciled(t, ns, "plain", "True")
	is("web; plain")
	w.apply(t, prometheusOnly(ns, "thanos", "shared-service", "  thanos: {}\n"))
	w.reconciled(t, ns, "thanos", "True")
	is("web grpc; plain thanos")
	t.Run("a change that both select", func(t *testing.T) {
		calls := o.during(t, func() {
			w.apply(t, fill("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: app, namespace: NAMESPACE}\nspec: {selector: {}, endpoints: [{port: http}]}\n", ns, ""))
			w.jobs(t, ns, "plain", "serviceMonitor/"+ns+"/app/0")
			w.jobs(t, ns, "thanos", "serviceMonitor/"+ns+"/app/0")
		})
		for _, c := range calls {
			if c.writes() && c.Object.Resource == "services" {
				t.Errorf("call: %s", c.what())
			}
		}
	})
	t.Run("another name of the same port", func(t *testing.T) {
		w.apply(t, prometheusOnly(ns, "named", "shared-service", "  portName: http\n"))
		w.reconciled(t, ns, "named", "True")
		is("web grpc; plain thanos named")
		if !strings.Contains(o.log.String(), `port \"http\" (9090) is not in Service \"prometheus-operated\"`) {
			t.Error("nobody is told that a port is missing")
		}
	})
	t.Run("nobody needs Thanos any more", func(t *testing.T) {
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "thanos", `{"spec":{"thanos":null}}`)
		is("web; plain thanos named")
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "thanos", `{"spec":{"thanos":{}}}`)
		is("web grpc; plain thanos named")
	})
	t.Run("one is deleted", func(t *testing.T) {
		w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "thanos")
		is("web; plain named")
	})
	t.Run("one gets a Service of its own", func(t *testing.T) {
		w.apply(t, fill("apiVersion: v1\nkind: Service\nmetadata: {name: mine, namespace: NAMESPACE}\nspec: {clusterIP: None, selector: {app.kubernetes.io/instance: plain}, ports: [{port: 9090}]}\n", ns, ""))
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "plain", `{"spec":{"serviceName":"mine"}}`)
		is("http; named")
	})
}
