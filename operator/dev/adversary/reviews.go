package adversary

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// hookFor returns the path of the webhook for a kind, and sometimes another path.
func hookFor(rng *rand.Rand, kind string) string {
	if rng.IntN(8) == 0 {
		kind = pick(rng, "PrometheusRule", "AlertmanagerConfig", "ServiceMonitor")
	}
	switch kind {
	case "PrometheusRule":
		return pick(rng, "/admission-prometheusrules/validate", "/admission-prometheusrules/mutate")
	case "AlertmanagerConfig":
		return "/admission-alertmanagerconfigs/validate"
	}
	return "/admission-objects/validate"
}

// admission sends an AdmissionReview of an object that may be too large for etcd.
func (c *callers) admission(rng *rand.Rand, n int) request {
	o := c.source.Object(3_000_000 + n)
	version, _ := o.Manifest["apiVersion"].(string)
	group, version, _ := strings.Cut(version, "/")
	operation := pick(rng, "CREATE", "CREATE", "UPDATE", "DELETE", "CONNECT", "")
	ask := map[string]any{
		"uid": pick(rng, fmt.Sprint(n), "", strings.Repeat("u", 100_000)), "operation": operation, "namespace": hostileNS, "name": nameOf(o.Manifest),
		"kind":     map[string]any{"group": group, "version": version, "kind": o.Kind},
		"resource": map[string]any{"group": group, "version": version, "resource": o.Resource},
		"userInfo": map[string]any{"username": hostileUser, "groups": make([]string, pick(rng, 0, 3, 3000))},
		"object":   larger(rng, o.Manifest),
	}
	if operation == "UPDATE" {
		ask["oldObject"] = larger(rng, c.source.Object(3_000_000+n+1).Manifest)
	}
	if rng.IntN(20) == 0 {
		ask["object"] = json.RawMessage(pick(rng, "null", "1", `"a"`, "[]", `{"spec":{"groups":[`+strings.Repeat("{},", 400_000)+"{}]}}", `{"metadata":{"managedFields":[`+strings.Repeat("{},", 300_000)+"{}]}}"))
	}
	review := map[string]any{"apiVersion": pick(rng, "admission.k8s.io/v1", "admission.k8s.io/v1", "admission.k8s.io/v1beta1", "admission.k8s.io/v9"), "kind": "AdmissionReview", "request": ask}
	return c.review(rng, hookFor(rng, o.Kind), review)
}

// conversion sends a ConversionReview with many objects.
func (c *callers) conversion(rng *rand.Rand, n int) request {
	var objects []any
	size := 0
	for i := 0; i < pick(rng, 1, 10, 100) && size < 60<<20; i++ {
		o := c.source.Object(4_000_000 + n*400 + i)
		if o.Kind != "AlertmanagerConfig" && rng.IntN(20) > 0 {
			continue
		}
		m := larger(rng, o.Manifest)
		objects = append(objects, m)
		if text, err := json.Marshal(m); err == nil {
			size += len(text)
		}
	}
	if rng.IntN(20) == 0 {
		objects = make([]any, 200_000)
	}
	review := map[string]any{"apiVersion": pick(rng, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v9"), "kind": "ConversionReview", "request": map[string]any{
		"uid": fmt.Sprint(n), "desiredAPIVersion": pick(rng, "monitoring.coreos.com/v1beta1", "monitoring.coreos.com/v1alpha1", "monitoring.coreos.com/v9", ""), "objects": objects,
	}}
	return c.review(rng, "/convert", review)
}

func (c *callers) review(rng *rand.Rand, path string, review hostile.Manifest) request {
	text, err := json.Marshal(review)
	if err != nil {
		text = []byte(err.Error())
	}
	return request{method: http.MethodPost, url: c.w.webhookURL() + path, kind: pick(rng, "application/json", "application/json", "application/json", "application/json", "application/json", "application/json; charset=utf-8", "text/plain"), body: text}
}

func (c *callers) webhookBodies(rng *rand.Rand, _ int) request {
	path := pick(rng, "/convert", "/admission-prometheusrules/validate", "/admission-prometheusrules/mutate", "/admission-alertmanagerconfigs/validate", "/admission-objects/validate", "/debug/pprof/heap", "/nothing")
	body := document(rng)
	if rng.IntN(3) == 0 {
		body = []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","object":` + string(body) + "}}")
	}
	return request{method: pick(rng, http.MethodPost, http.MethodPost, http.MethodGet), url: c.w.webhookURL() + path, kind: "application/json", body: body}
}
