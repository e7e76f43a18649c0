package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const native = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{name: http, port: 80}], aFieldOfTomorrow: 1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: app}
spec: {template: {spec: {containers: [{name: web, ports: [{name: http, containerPort: 8080}]}]}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: app}
---
apiVersion: rbac.authorization.k8s.io/v1beta1
kind: ClusterRole
metadata: {name: reader, namespace: left-over}
---
apiVersion: batch/v1
kind: Job
metadata: {generateName: once-, namespace: app}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: knative, namespace: app}
---
apiVersion: v1
kind: List
items:
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: web-1, namespace: app}
  addressType: IPv4
`

// ids returns objects as "KIND NAMESPACE/NAME" with their line and item.
func ids(o *Objects) (out []string) {
	for _, n := range o.Native() {
		id := n.GetObjectKind().GroupVersionKind().Kind + " " + n.GetNamespace() + "/" + n.GetName()
		at := o.Place(n.GetObjectKind().GroupVersionKind().Kind, n.GetNamespace(), n.GetName())
		out = append(out, fmt.Sprintf("%s :%d %s", id, at.Line, at.Item))
	}
	return out
}

func TestNative(t *testing.T) {
	o, err := Load([]string{folder(t, map[string]string{"a.yaml": strings.TrimPrefix(native, "\n")})}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Service default/web :1 ", "Deployment app/web :6 ", "Namespace /app :11 ", "ClusterRole /reader :15 ",
		"Job app/ :0 ", "EndpointSlice app/web-1 :31 items[0]",
	}
	if diff := cmp.Diff(want, ids(o)); diff != "" {
		t.Error(diff)
	}
	ignored := map[string]int{"Service": 3, "Deployment": 1, "ClusterRole": 1, "Job": 1, "EndpointSlice": 1}
	if diff := cmp.Diff(ignored, o.Ignored); diff != "" {
		t.Errorf("the operator uses none of them: %s", diff)
	}
	if o.Len() != 1 {
		t.Errorf("%d objects, want the Namespace only", o.Len())
	}
}

// A broken Kubernetes object that the operator does not use does not fail loading.
func TestBrokenNative(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: http}]}\n---\n" + pod("fine")})
	o, err := Load([]string{dir}, kinds())
	if err != nil || len(o.Native()) != 0 || o.Len() != 1 {
		t.Errorf("%d objects, %d of Kubernetes' own, %v", o.Len(), len(o.Native()), err)
	}
	o, faults := LoadAll([]string{dir}, kinds())
	if len(faults) != 1 || !faults[0].Native || faults[0].Name != "web" || o.Len() != 1 {
		t.Fatalf("faults %v of %d objects", faults, o.Len())
	}
	if got, want := faults[0].Err.Error(), "spec.ports[0].port: want an integer, got a string"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Names of container ports that the API server rejects are faults, and the object is kept.
func TestNamesOfContainerPorts(t *testing.T) {
	manifest := func(name string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: app}\nspec: {template: {spec: {containers: [{name: web, ports: [{name: " + name + ", containerPort: 8080}]}]}}}\n"
	}
	for name, want := range map[string]string{
		"metrics": "", "prometheus-metrics": "spec.template.spec.containers[0].ports[0].name: must be no more than 15 characters", "http_metrics": "spec.template.spec.containers[0].ports[0].name: must contain only",
	} {
		objects, faults := LoadAll([]string{folder(t, map[string]string{"a.yaml": manifest(name)})}, kinds())
		if len(objects.Native()) != 1 || (want == "") != (len(faults) == 0) || want != "" && (!faults[0].Native || !strings.Contains(faults[0].Err.Error(), want)) {
			t.Errorf("%s: %v", name, faults)
		}
	}
}
