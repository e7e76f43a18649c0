package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
)

// owner is the workload that the operator reconciles while its metrics are scraped. It sets each field that has a
// metric about it.
const owner = `{
	"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus",
	"metadata": {"name": "main", "namespace": "demo", "uid": "u", "resourceVersion": "1", "generation": 1},
	"spec": {"enforcedSampleLimit": 1, "serviceMonitorSelector": {}}
}`

// kinds maps each resource that an operator lists to its kind.
var kinds = map[string]string{
	"alertmanagerconfigs": "AlertmanagerConfig", "alertmanagers": "Alertmanager", "configmaps": "ConfigMap",
	"customresourcedefinitions": "CustomResourceDefinition", "daemonsets": "DaemonSet", "endpoints": "Endpoints",
	"endpointslices": "EndpointSlice", "namespaces": "Namespace", "nodes": "Node", "podmonitors": "PodMonitor",
	"pods": "Pod", "probes": "Probe", "prometheusagents": "PrometheusAgent", "prometheuses": "Prometheus",
	"prometheusrules": "PrometheusRule", "scrapeconfigs": "ScrapeConfig", "secrets": "Secret",
	"servicemonitors": "ServiceMonitor", "services": "Service", "statefulsets": "StatefulSet", "persistentvolumeclaims": "PersistentVolumeClaim",
	"thanosrulers": "ThanosRuler",
}

// answerAPI is a minimal fake API server for an operator that reconciles: lists contain only one workload, watches have
// no events, every permission but an optional one is granted, and written objects are returned as they came.
func answerAPI(w http.ResponseWriter, r *http.Request) {
	switch resource := path.Base(r.URL.Path); {
	case resource == "version":
		answer(w, http.StatusOK, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.0"})
	case path.Dir(r.URL.Path) == "/apis/monitoring.coreos.com":
		answer(w, http.StatusOK, served(path.Base(path.Dir(r.URL.Path))+"/"+resource))
	case resource == "selfsubjectaccessreviews":
		question, _ := io.ReadAll(r.Body) // encoded as protobuf
		allowed := !bytes.Contains(question, []byte("storageclasses"))
		answer(w, http.StatusCreated, map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": map[string]any{"allowed": allowed},
		})
	case r.URL.Query().Get("sendInitialEvents") != "":
		refuse(w, http.StatusUnprocessableEntity, "Invalid") // clients fall back to list
	case r.URL.Query().Get("watch") != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case r.Method == http.MethodGet && kinds[resource] != "":
		answer(w, http.StatusOK, list(r, resource))
	case r.Method == http.MethodGet:
		refuse(w, http.StatusNotFound, "NotFound")
	default:
		answer(w, http.StatusOK, stored(readObject(r)))
	}
}

// served returns the discovery document of an API version with all kinds.
func served(version string) map[string]any {
	var resources []any
	for resource, kind := range kinds {
		resources = append(resources, map[string]any{"name": resource, "kind": kind, "namespaced": true})
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
}

// list returns a list that is empty except for the resource of the workload.
func list(r *http.Request, resource string) map[string]any {
	group, version := "", "v1"
	if rest, ok := strings.CutPrefix(r.URL.Path, "/apis/"); ok {
		parts := strings.Split(rest, "/")
		group, version = parts[0]+"/", parts[1]
	}
	out := map[string]any{
		"apiVersion": group + version, "kind": kinds[resource] + "List",
		"metadata": map[string]any{"resourceVersion": "1"}, "items": []any{},
	}
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		out["apiVersion"], out["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	if resource == "prometheuses" {
		out["items"] = []any{json.RawMessage(owner)}
	}
	return out
}

// stored returns a written object with the metadata that an API server adds.
func stored(object map[string]any) map[string]any {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	meta["uid"], meta["resourceVersion"] = "u", "2"
	return object
}

func readObject(r *http.Request) map[string]any {
	object := map[string]any{}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &object)
	}
	if err != nil {
		return map[string]any{} // the client reports the unusable response
	}
	return object
}

func refuse(w http.ResponseWriter, code int, reason string) {
	answer(w, code, map[string]any{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason,
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// A closed connection is not an error here.
	_ = json.NewEncoder(w).Encode(body)
}
