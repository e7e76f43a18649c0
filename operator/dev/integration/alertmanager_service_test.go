package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// alertmanagerService is the governing Service of Alertmanagers as the reference writes it.
const alertmanagerService = `
apiVersion: v1
kind: Service
metadata:
  name: alertmanager-operated
  namespace: NAMESPACE
  labels: {managed-by: prometheus-operator, operated-alertmanager: "true"}
  ownerReferences: [{apiVersion: monitoring.coreos.com/v1, kind: Alertmanager, name: web, uid: OWNER}]
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {app.kubernetes.io/name: alertmanager}
  ports:
  - {name: web, port: 9093, targetPort: web, protocol: TCP}
  - {name: tcp-mesh, port: 9094, targetPort: mesh-tcp, protocol: TCP}
  - {name: udp-mesh, port: 9094, targetPort: mesh-udp, protocol: UDP}
`

// A takeover keeps the addresses of pods that are not ready published, because the cluster of a running Alertmanager
// needs them.
func TestAlertmanagerServiceTakeover(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "am-service"
	ns := w.namespace(t)
	w.apply(t, fill(alertmanager, ns, id))
	am, err := w.get(t, "monitoring.coreos.com/v1", "Alertmanager", ns, "web")
	if err != nil {
		t.Fatal(err)
	}
	w.create(t, fill(strings.ReplaceAll(alertmanagerService, "OWNER", string(am.GetUID())), ns, id))

	o := w.operator(t, id, "", "--controller-id="+id)
	w.reports(t, alertmanagerOf(ns, "web"), "True")
	o.settle(t)
	s, err := w.get(t, "v1", "Service", ns, "alertmanager-operated")
	if err != nil {
		t.Fatal(err)
	}
	if published, _, _ := unstructured.NestedBool(s.Object, "spec", "publishNotReadyAddresses"); !published {
		t.Error("addresses of pods that are not ready are no longer published")
	}
	if ports, _, _ := unstructured.NestedSlice(s.Object, "spec", "ports"); len(ports) != 3 {
		t.Errorf("ports %v, want the three of the reference", ports)
	}
}
