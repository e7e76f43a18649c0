package truth

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// churn generates random events in an API server without controllers, so that there are no other writers.
type churn struct {
	t      *testing.T
	api    dynamic.Interface
	r      *rand.Rand
	exists map[string]bool // "RESOURCE/NAMESPACE/NAME"
	events int
}

var churnNamespaces = []string{"ns-0", "ns-1", "ns-2"}

// marker is the name of the pod, node and slice that show how far a watch has progressed.
const marker = "marker"

var churnResources = map[string]schema.GroupVersionResource{
	"pods": {Version: "v1", Resource: "pods"}, "services": {Version: "v1", Resource: "services"}, "endpoints": {Version: "v1", Resource: "endpoints"},
	"nodes": {Version: "v1", Resource: "nodes"}, "namespaces": {Version: "v1", Resource: "namespaces"}, "serviceaccounts": {Version: "v1", Resource: "serviceaccounts"},
	"endpointslices": {Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	"ingresses":      {Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
}

var churnKinds = map[string]string{"pods": "Pod", "services": "Service", "endpoints": "Endpoints", "nodes": "Node", "namespaces": "Namespace",
	"serviceaccounts": "ServiceAccount", "endpointslices": "EndpointSlice", "ingresses": "Ingress"}

type fields = map[string]any

func (w *churn) of(words ...string) string { return words[w.r.Intn(len(words))] }

func (w *churn) in(resource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return w.api.Resource(churnResources[resource])
	}
	return w.api.Resource(churnResources[resource]).Namespace(namespace)
}

// create creates an object, and writes its status if it has one.
func (w *churn) create(resource, namespace, name string, object fields) {
	w.t.Helper()
	gvr := churnResources[resource]
	meta, _ := object["metadata"].(fields)
	if meta == nil {
		meta = fields{}
	}
	meta["name"] = name
	if namespace != "" {
		meta["namespace"] = namespace
	}
	whole := fields{"apiVersion": gvr.GroupVersion().String(), "kind": churnKinds[resource], "metadata": meta}
	for key, value := range object {
		if key != "metadata" && key != "status" {
			whole[key] = value
		}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		w.t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(text); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.in(resource, namespace).Create(context.Background(), &u, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		w.t.Fatalf("create %s %s/%s: %v\n%s", resource, namespace, name, err, text)
	}
	w.exists[resource+"/"+namespace+"/"+name] = true
	w.events++
	if object["status"] != nil {
		w.patch(resource, namespace, name, fields{"status": object["status"]}, "status")
	}
}

func (w *churn) patch(resource, namespace, name string, object fields, sub ...string) {
	w.t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.in(resource, namespace).Patch(context.Background(), name, types.MergePatchType, text, metav1.PatchOptions{}, sub...)
	if apierrors.IsNotFound(err) { // Endpoints are deleted with their Service
		delete(w.exists, resource+"/"+namespace+"/"+name)
		return
	}
	if err != nil {
		w.t.Fatalf("patch %s %s/%s: %v\n%s", resource, namespace, name, err, text)
	}
	w.events++
}

func (w *churn) delete(resource, namespace, name string) {
	w.t.Helper()
	if err := w.in(resource, namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatalf("delete %s %s/%s: %v", resource, namespace, name, err)
	}
	delete(w.exists, resource+"/"+namespace+"/"+name)
	w.events++
}

// event changes a random object of a resource.
func (w *churn) event(resource string) {
	w.t.Helper()
	namespace, name := w.of(churnNamespaces...), w.of("a", "b", "c", "d")
	if resource == "nodes" {
		namespace = ""
	}
	if resource == "namespaces" { // builders ignore their creation and deletion
		w.patch(resource, "", namespace, fields{"metadata": w.meta(true)})
		return
	}
	object := w.object(resource, namespace, name)
	switch exists := w.exists[resource+"/"+namespace+"/"+name]; {
	case !exists:
		w.create(resource, namespace, name, object)
	case w.r.Intn(5) == 0:
		w.delete(resource, namespace, name)
	case resource == "pods" || resource == "nodes":
		if w.r.Intn(2) == 0 {
			w.patch(resource, namespace, name, fields{"metadata": w.meta(true)})
			return
		}
		w.patch(resource, namespace, name, fields{"status": object["status"]}, "status")
	case resource == "services": // most fields of the spec are immutable
		w.patch(resource, namespace, name, fields{"metadata": w.meta(true)})
	case resource == "endpointslices":
		delete(object, "addressType")
		fallthrough
	default:
		w.patch(resource, namespace, name, object)
	}
}

// meta returns random metadata. A patch also removes some labels and annotations.
func (w *churn) meta(patch bool) fields {
	labels, annotations := fields{}, fields{}
	for _, m := range []fields{labels, annotations} {
		for _, key := range []string{"app", "example.com/some-key", "team"} {
			switch n := w.r.Intn(4); {
			case n > 0:
				m[key] = w.of("a", "b", "web", "v"+fmt.Sprint(w.r.Intn(1000)))
			case patch:
				m[key] = nil
			}
		}
	}
	return fields{"labels": labels, "annotations": annotations}
}

func (w *churn) address() string { return fmt.Sprintf("10.0.%d.%d", w.r.Intn(3), 1+w.r.Intn(200)) }

// object returns a random object or, if one of that name exists, a patch of it.
func (w *churn) object(resource, namespace, name string) fields {
	meta := w.meta(w.exists[resource+"/"+namespace+"/"+name])
	switch resource {
	case "pods":
		return w.pod(meta)
	case "nodes":
		return fields{"metadata": meta, "spec": fields{"providerID": "some://" + name}, "status": fields{
			"addresses":       []any{fields{"type": "InternalIP", "address": w.address()}, fields{"type": w.of("Hostname", "ExternalIP"), "address": w.of("x", "y")}},
			"daemonEndpoints": fields{"kubeletEndpoint": fields{"Port": 10250 + w.r.Intn(3)}},
			"conditions":      []any{fields{"type": "Ready", "status": w.of("True", "False"), "lastHeartbeatTime": nil, "lastTransitionTime": nil}}}}
	case "services":
		spec := fields{"ports": []any{fields{"name": "http", "port": 80 + w.r.Intn(3)}, fields{"name": "other", "port": 90, "protocol": w.of("TCP", "UDP")}}}
		switch w.r.Intn(4) {
		case 0:
			spec["clusterIP"] = "None"
		case 1:
			spec["type"], spec["externalName"] = "ExternalName", "example.com"
		case 2:
			spec["ipFamilyPolicy"] = "PreferDualStack"
		}
		return fields{"metadata": meta, "spec": spec}
	case "endpointslices":
		return w.slice(meta)
	case "endpoints":
		return w.endpoints(meta)
	case "ingresses":
		backend := fields{"service": fields{"name": "a", "port": fields{"number": 80}}}
		rule := func(host string) fields {
			return fields{"host": host, "http": fields{"paths": []any{fields{"path": w.of("/", "/a", "/b"), "pathType": "Prefix", "backend": backend}}}}
		}
		return fields{"metadata": meta, "spec": fields{"ingressClassName": w.of("x", "y"), "rules": []any{rule("a.example.com"), rule(w.of("b.example.com", "*.example.com"))},
			"tls": []any{fields{"hosts": []any{w.of("a.example.com", "*.example.com")}}}}}
	}
	return fields{"metadata": meta}
}

func (w *churn) pod(meta fields) fields {
	if w.r.Intn(2) == 0 {
		meta["ownerReferences"] = []any{fields{"apiVersion": "apps/v1", "kind": w.of("ReplicaSet", "DaemonSet"), "name": w.of("x", "y"), "uid": "u", "controller": true}}
	}
	container := func(name string, ports ...int) fields {
		out := fields{"name": name, "image": "registry.example.com/" + name + ":v" + fmt.Sprint(w.r.Intn(3)), "env": []any{fields{"name": "VARIABLE", "value": "long"}}}
		var list []any
		for _, port := range ports {
			list = append(list, fields{"name": fmt.Sprint("p", port), "containerPort": port})
		}
		out["ports"] = list
		return out
	}
	address := w.address()
	spec := fields{"containers": []any{container("server", 80), container("side", 80+w.r.Intn(5), 9090), container("none")}, "nodeName": w.of("a", "b", "c", "d"), "terminationGracePeriodSeconds": 0,
		"volumes": []any{fields{"name": "data", "emptyDir": fields{}}}}
	if w.r.Intn(2) == 0 {
		spec["initContainers"] = []any{container("init", 7000)}
	}
	statuses := []any{}
	for _, name := range []string{"server", "side"} {
		statuses = append(statuses, fields{"name": name, "image": "x", "imageID": "y", "containerID": fmt.Sprint("containerd://", w.r.Intn(1000)), "ready": true, "restartCount": w.r.Intn(5)})
	}
	return fields{"metadata": meta, "spec": spec, "status": fields{"phase": w.of("Running", "Pending"), "podIP": address, "podIPs": []any{fields{"ip": address}}, "hostIP": "10.1.0.1", "hostIPs": []any{fields{"ip": "10.1.0.1"}},
		"conditions":        []any{fields{"type": "Ready", "status": w.of("True", "False")}, fields{"type": "Initialized", "status": "True"}},
		"containerStatuses": statuses}}
}

// podRef returns a reference to a pod, mostly of some namespace, or to a node.
func (w *churn) podRef() fields {
	if w.r.Intn(6) == 0 {
		return fields{"kind": "Node", "name": w.of("a", "b", "c", "d")}
	}
	return fields{"kind": "Pod", "namespace": w.of(churnNamespaces...), "name": w.of("a", "b", "c", "d", "none")}
}

func (w *churn) slice(meta fields) fields {
	meta["labels"].(fields)["kubernetes.io/service-name"] = w.of("a", "b", "c", "d")
	var endpoints []any
	for range 1 + w.r.Intn(4) {
		e := fields{"addresses": []any{w.address()}, "conditions": fields{"ready": w.r.Intn(2) == 0, "serving": true, "terminating": w.r.Intn(2) == 0}}
		if w.r.Intn(4) > 0 {
			e["targetRef"] = w.podRef()
		}
		if w.r.Intn(2) == 0 {
			e["nodeName"], e["zone"] = w.of("a", "b", "c"), "z"
		}
		endpoints = append(endpoints, e)
	}
	return fields{"metadata": meta, "addressType": "IPv4", "endpoints": endpoints, "ports": []any{fields{"name": "http", "port": 80}, fields{"name": "", "port": 80 + w.r.Intn(4), "appProtocol": "http"}}}
}

func (w *churn) endpoints(meta fields) fields {
	addresses := func() (out []any) {
		for range 1 + w.r.Intn(3) {
			a := fields{"ip": w.address(), "hostname": "h"}
			if w.r.Intn(4) > 0 {
				a["targetRef"] = w.podRef()
			}
			if w.r.Intn(2) == 0 {
				a["nodeName"] = w.of("a", "b", "c")
			}
			out = append(out, a)
		}
		return out
	}
	return fields{"metadata": meta, "subsets": []any{fields{"addresses": addresses(), "notReadyAddresses": addresses(), "ports": []any{fields{"name": "http", "port": 80}}}}}
}
