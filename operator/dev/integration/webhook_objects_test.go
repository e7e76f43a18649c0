package integration

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// slowMonitor returns a ServiceMonitor with an interval of 10s and a timeout.
func slowMonitor(ns, name, timeout string) string {
	return fmt.Sprintf("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: %s, namespace: %s}\n"+
		"spec: {selector: {}, endpoints: [{port: web, interval: 10s, scrapeTimeout: %s}]}\n", name, ns, timeout)
}

// checksObjects tests the component webhook-validate-all.
func (w *environment) checksObjects(t *testing.T, ns string) {
	head := func(version, kind string) string {
		return "apiVersion: monitoring.coreos.com/" + version + "\nkind: " + kind + "\nmetadata: {name: checked, namespace: " + ns + "}\nspec: "
	}
	for kind, tc := range map[string]struct{ version, bad, want, good string }{
		"ServiceMonitor": {"v1", "{selector: {}, endpoints: [{port: a, interval: 1s, scrapeTimeout: 2s}]}", "spec.endpoints[0].scrapeTimeout: 2s is longer than the interval 1s",
			"{selector: {}, endpoints: [{port: a, scrapeTimeout: 5m, bearerTokenSecret: {name: none, key: token}}], scrapeClass: none}"},
		"PodMonitor":      {"v1", "{selector: {}, podMetricsEndpoints: [{port: a, relabelings: [{regex: '('}]}]}", "spec.podMetricsEndpoints[0].relabelings[0].regex: ", "{selector: {}, podMetricsEndpoints: []}"},
		"Probe":           {"v1", "{prober: {url: 'http://a'}, targets: {staticConfig: {static: [b]}}}", "spec.prober.url: ", "{prober: {url: a}, targets: {staticConfig: {static: [b]}}}"},
		"ScrapeConfig":    {"v1alpha1", "{scrapeInterval: 1s, scrapeTimeout: 2s}", "spec.scrapeTimeout: 2s is longer than the interval 1s", "{}"},
		"Prometheus":      {"v1", "{version: newest}", "spec.version: ", "{serviceMonitorSelector: {}, additionalScrapeConfigs: {name: none, key: jobs}, secrets: [none]}"},
		"PrometheusAgent": {"v1alpha1", "{scrapeInterval: 1s, scrapeTimeout: 2s}", "spec.scrapeTimeout: 2s is longer than the interval 1s", "{mode: DaemonSet}"},
		"Alertmanager":    {"v1", "{externalUrl: 'ftp://a'}", "spec.externalUrl: ", "{alertmanagerConfiguration: {name: none}}"},
		"ThanosRuler":     {"v1", "{}", "spec.queryEndpoints: ", "{queryEndpoints: [q]}"},
	} {
		eventually(t, kind, func() error { // the API server applies webhook configurations with a delay
			s, err := w.refused(t, head(tc.version, kind)+tc.bad)
			if err != nil {
				w.delete(t, "monitoring.coreos.com/"+tc.version, kind, ns, "checked")
				return err
			}
			if want := `admission webhook "objectsvalidate.monitoring.coreos.com" denied the request: ` + kind + " is invalid: " + tc.want; !strings.HasPrefix(s.Message, want) {
				t.Errorf("%s: %s, want %s", kind, s.Message, want)
			}
			return nil
		})
		w.create(t, head(tc.version, kind)+tc.good)
		w.delete(t, "monitoring.coreos.com/"+tc.version, kind, ns, "checked")
	}

	_, err := w.cluster.KubectlInput(t.Context(), []byte(head("v1", "Prometheus")+"{version: v2.45.0, serviceMonitorSelector: {}, scrapeProtocols: [OpenMetricsText1.0.0]}"), "apply", "--warnings-as-errors", "-f", "-")
	if want := "Warning: Prometheus " + ns + "/checked: spec.scrapeProtocols: global.scrape_protocols needs Prometheus >= 2.49.0 and is left out"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("kubectl prints %v, want %s", err, want)
	}

	// Objects stored before the webhook was installed can be labeled and deleted.
	const version = "monitoring.coreos.com/v1"
	w.patch(t, version, "ServiceMonitor", ns, "stored", `{"metadata":{"labels":{"team":"a"},"finalizers":["example.org/held"]}}`)
	if err := w.patched(t, ns, "stored", `{"spec":{"endpoints":[{"port":"web","interval":"10s","scrapeTimeout":"30s"}]}}`); err == nil || !strings.Contains(err.Error(), "30s is longer than the interval 10s") {
		t.Errorf("another wrong spec: %v", err)
	}
	w.delete(t, version, "ServiceMonitor", ns, "stored")
	w.patch(t, version, "ServiceMonitor", ns, "stored", `{"metadata":{"finalizers":null}}`)
	eventually(t, "the stored monitor is gone", func() error {
		if _, err := w.get(t, version, "ServiceMonitor", ns, "stored"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
}

// patched applies a merge patch to a ServiceMonitor.
func (w *environment) patched(t *testing.T, ns, name, patch string) error {
	t.Helper()
	_, err := w.resource(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}
