package integration

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// noise returns text that is nearly incompressible.
func noise(r *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[r.IntN(62)]
	}
	return string(text)
}

// parted returns the configuration and rule files of a Prometheus as its pods see them, and the Secrets with the parts.
func (w *environment) parted(t *testing.T, namespace, name string) (config string, rules map[string]string, secrets map[string]string, err error) {
	t.Helper()
	all, err := w.kube.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "managed-by=prometheus-operator"})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	secrets = map[string]string{}
	for _, s := range all.Items {
		part := strings.HasPrefix(s.Name, "prometheus-"+name+"-config-part-")
		if part || s.Name == "prometheus-"+name {
			maps.Copy(files, s.Data)
			secrets[s.Name] = s.ResourceVersion
		}
		if part && (len(s.OwnerReferences) != 1 || s.OwnerReferences[0].Name != name) {
			t.Errorf("%s has the owners %v", s.Name, s.OwnerReferences)
		}
	}
	plain, archived, err := parts.Read(files, "prometheus.yaml.gz")
	rules = w.ruleFiles(t, namespace, name)
	maps.Copy(rules, archived)
	return string(plain), rules, secrets, err
}

// The configuration of a Prometheus can grow beyond one Secret and three ConfigMaps, exceed all limits, and shrink
// again, without a change of the pods.
func TestOversize(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "oversize", "", "--controller-id=oversize")
	ns := w.namespace(t)
	w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: big, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec: {scrapeConfigSelector: {}, ruleSelector: {}}
`, ns, "oversize"))
	w.reconciled(t, ns, "big", "True")
	o.settle(t)
	pods, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-big")
	if err != nil {
		t.Fatal(err)
	}
	samePods := func() {
		t.Helper()
		now, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-big")
		if err != nil || now.GetUID() != pods.GetUID() || now.GetGeneration() != pods.GetGeneration() {
			t.Errorf("the StatefulSet changed from generation %d to %d, %v", pods.GetGeneration(), now.GetGeneration(), err)
		}
	}

	r := rand.New(rand.NewPCG(1, 2))
	job := func(i int) {
		w.apply(t, fmt.Sprintf("apiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: c%02d, namespace: %s}\n"+
			"spec: {staticConfigs: [{targets: [\"example.org:80\"], labels: {noise: %s}}]}", i, ns, noise(r, 300_000)))
	}
	const large, rules = 10, 6
	for i := range large {
		job(i)
	}
	for i := range rules {
		w.apply(t, fmt.Sprintf("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r%d, namespace: %s}\n"+
			"spec: {groups: [{name: r, rules: [{alert: A, expr: up, annotations: {noise: %s}}]}]}", i, ns, noise(r, 400_000)))
	}
	holds := func(jobs, files, least, most int) (written map[string]string) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d jobs and %d rule files", jobs, files), func() error {
			config, found, secrets, err := w.parted(t, ns, "big")
			switch n, parts := strings.Count(config, "- job_name: scrapeConfig/"), len(secrets)-1; {
			case err != nil:
				return err
			case n != jobs || len(found) != files || parts < least || parts > most:
				return fmt.Errorf("%d jobs, %d rule files, %d parts", n, len(found), parts)
			}
			written = secrets
			return nil
		})
		return written
	}
	t.Run("grows", func(t *testing.T) {
		holds(large, rules, 4, 8)
		w.reconciled(t, ns, "big", "True")
		o.settle(t)
		samePods()
		if maps := w.list(t, "v1", "ConfigMap", ns); len(maps) > 4 { // three, and the one that Kubernetes creates
			t.Errorf("%d ConfigMaps", len(maps))
		}
		if config, _, _, err := w.parted(t, ns, "big"); err != nil || !strings.Contains(config, "/etc/prometheus/config_out/rules/*.yaml") {
			t.Errorf("the unpacked rules are not loaded, %v", err)
		}
	})
	t.Run("is at rest", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "r0", `{"metadata":{"labels":{"a":"b"}}}`)
			o.settle(t)
		})
		for _, c := range calls {
			if c.writes() && c.resource() == "secrets" {
				t.Errorf("written without need: %s", c.what())
			}
		}
	})
	t.Run("leaves objects out beyond the limit", func(t *testing.T) {
		holds(large, rules, 4, 8)
		for i := large; i < 60; i++ {
			job(i)
		}
		var message string
		eventually(t, "the condition", func() error {
			big, err := w.get(t, "monitoring.coreos.com/v1", "Prometheus", ns, "big")
			if err != nil {
				return err
			}
			message = fmt.Sprint(big.Object["status"])
			return hasCondition(big, "Reconciled", "True", "ObjectsLeftOut")
		})
		for _, want := range []string{"objects are left out of the namespaces " + ns, "MiB of compressed configuration", "let several Prometheus objects select"} {
			if !strings.Contains(message, want) {
				t.Errorf("the condition does not say %q: %s", want, message)
			}
		}
		eventually(t, "an Event on an object that is left out", func() error {
			for _, e := range w.list(t, "events.k8s.io/v1", "Event", ns) {
				if strings.Contains(fmt.Sprint(e.Object["note"]), "rejected by Prometheus "+ns+"/big: left out, because") {
					return nil
				}
			}
			return errors.New("there is none")
		})
		if config, _, _, err := w.parted(t, ns, "big"); err != nil || strings.Count(config, "- job_name: scrapeConfig/") < 15 {
			t.Errorf("%d jobs are written, %v", strings.Count(config, "- job_name: scrapeConfig/"), err)
		}
		w.removeJobs(t, ns, large, 60)
		holds(large, rules, 4, 8)
		w.reconciled(t, ns, "big", "True")
		samePods()
	})
	t.Run("shrinks", func(t *testing.T) {
		w.removeJobs(t, ns, 1, large)
		for i := 1; i < rules; i++ {
			w.delete(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, fmt.Sprintf("r%d", i))
		}
		holds(1, 1, 0, 0)
		w.reconciled(t, ns, "big", "True")
		samePods()
		if config, err := w.configuration(t, ns, "prometheus-big"); err != nil || strings.Contains(config, "config_out/rules") {
			t.Errorf("the unpacked rules are still loaded, %v", err)
		}
	})
}

// removeJobs deletes jobs of TestOversize.
func (w *environment) removeJobs(t *testing.T, namespace string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		w.delete(t, "monitoring.coreos.com/v1alpha1", "ScrapeConfig", namespace, fmt.Sprintf("c%02d", i))
	}
}
