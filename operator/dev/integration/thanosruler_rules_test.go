package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Prometheus, an agent and a ThanosRuler have the same name in one namespace, and two of them use the same rule, each
// in its own form.
func TestRulerBesideServer(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-beside", "", "--controller-id=ruler-beside", "--feature-gates=StatusForConfigurationResources=true")
	ns := w.namespace(t)
	w.apply(t, fill(rule+"---"+ruler+"---"+edge+"---"+strings.SplitAfter(web, "\n---\n")[0], ns, "ruler-beside"))
	all := []*unstructured.Unstructured{owner(ns, "web"), agent(ns, "web"), thanosRuler(ns, "web")}
	for _, o := range all {
		w.reports(t, o, "True")
	}
	const kind = "PrometheusRule"
	w.says(t, "monitoring.coreos.com/v1", kind, ns, "prometheuses/web True", "thanosrulers/web True")
	forms := func(prometheus, thanos string) {
		t.Helper()
		eventually(t, "each has its own form of the rule", func() error {
			files := w.ruleFiles(t, ns, "web")
			for _, text := range files {
				if len(files) != 1 || !strings.Contains(text, prometheus) || strings.Contains(text, "partial_response_strategy") {
					return fmt.Errorf("Prometheus has %v", files)
				}
			}
			if (len(files) == 0) != (prometheus == "") {
				return fmt.Errorf("Prometheus has %v", files)
			}
			text := fmt.Sprint(w.rulerRules(t, ns, "web"))
			if !strings.Contains(text, thanos) || strings.Contains(text, "partial_response_strategy: warn") != (thanos != "") {
				return fmt.Errorf("the ThanosRuler has %s", text)
			}
			return nil
		})
	}
	forms("app:up", "app:up")
	t.Run("their objects are told apart", func(t *testing.T) { w.toldApart(t, ns) })

	t.Run("what only one accepts", func(t *testing.T) {
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"enableFeatures":["promql-experimental-functions"]}}`)
		w.patch(t, "monitoring.coreos.com/v1", kind, ns, "app", `{"spec":{"groups":[{"name":"app","partial_response_strategy":"warn","rules":[{"record":"app:sorted","expr":"sort_by_label(up, \"a\")"}]}]}}`)
		w.says(t, "monitoring.coreos.com/v1", kind, ns, "prometheuses/web True", "thanosrulers/web False InvalidConfiguration")
		forms("app:sorted", "")
		if v, err := o.metric("prometheus_operator_managed_resources", "controller", "thanos", "resource", kind, "state", "rejected"); err != nil || v != 1 {
			t.Errorf("rejected %v, %v", v, err)
		}
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"version":"v2.55.1","enableFeatures":null}}`)
		w.patch(t, "monitoring.coreos.com/v1", kind, ns, "app", `{"spec":{"groups":[{"name":"app","partial_response_strategy":"warn","rules":[{"record":"app:up","expr":"sum(up)","labels":{"a.b":"c"}}]}]}}`)
		w.says(t, "monitoring.coreos.com/v1", kind, ns, "prometheuses/web False InvalidConfiguration", "thanosrulers/web True")
		forms("", "a.b: c")
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"version":null}}`)
		w.says(t, "monitoring.coreos.com/v1", kind, ns, "prometheuses/web True", "thanosrulers/web True")
		forms("a.b: c", "a.b: c")
	})

	t.Run("a ThanosRuler leaves nothing behind", func(t *testing.T) {
		w.waitFor(t, thanosRuler(ns, "web"), "has the finalizer", func(o *unstructured.Unstructured) error {
			if got := o.GetFinalizers(); !slices.Equal(got, []string{"monitoring.coreos.com/status-cleanup"}) {
				return fmt.Errorf("finalizers %v", got)
			}
			return nil
		})
		w.delete(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
		w.gone(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
		for _, c := range rulerChildren {
			w.gone(t, c.apiVersion, c.kind, ns, c.name)
		}
		w.says(t, "monitoring.coreos.com/v1", kind, ns, "prometheuses/web True")
		for _, c := range children {
			if _, err := w.get(t, c.apiVersion, c.kind, ns, c.name); err != nil {
				t.Error(err)
			}
		}
	})
}

// toldApart checks that each Service and StatefulSet selects only the pods of its own kind.
func (w *environment) toldApart(t *testing.T, ns string) {
	t.Helper()
	for name, want := range map[string]string{
		"prometheus-operated": "prometheus-web-0", "prometheus-agent-operated": "prom-agent-web-0", "thanos-ruler-operated": "thanos-ruler-web-0",
	} {
		w.pod(t, ns, want)
		service, err := w.kube.CoreV1().Services(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pods, err := w.kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})})
		if err != nil || len(pods.Items) != 1 || pods.Items[0].Name != want {
			t.Errorf("Service %s selects %d pods, %v", name, len(pods.Items), err)
		}
	}
}

// The other rules of a ThanosRuler are live, and the error of a rejected one is reported once, where users look for it.
func TestRulerRejectsRulesAlone(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-rejects", "", "--controller-id=ruler-rejects")
	ns := w.rulerDeployed(t, o, "ruler-rejects")
	w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: bad, namespace: NAMESPACE}
spec: {groups: [{name: bad, rules: [{record: bad, expr: "sum("}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: good, namespace: NAMESPACE}
spec: {groups: [{name: good, partial_response_strategy: "", rules: [{alert: Good, expr: vector(1)}]}]}
`, ns, ""))
	eventually(t, "the good rules are there", func() error {
		text := fmt.Sprint(w.rulerRules(t, ns, "web"))
		if !strings.Contains(text, "Good") || !strings.Contains(text, "app:up") || strings.Contains(text, "bad") {
			return fmt.Errorf("rules %s", text)
		}
		return nil
	})
	if e := w.event(t, ns, "bad"); e.Action != "SelectingPrometheusRuleResources" || e.Reason != "InvalidConfiguration" || e.Type != "Warning" ||
		e.ReportingController != "thanos-controller" || e.Related == nil || e.Related.Kind != "ThanosRuler" || !strings.Contains(e.Note, "ThanosRuler "+ns+"/web") {
		t.Errorf("event %+v", e)
	}
	o.settle(t)
	for state, want := range map[string]float64{"selected": 3, "rejected": 1} {
		if v, err := o.metric("prometheus_operator_managed_resources", "controller", "thanos", "resource", "PrometheusRule", "state", state); err != nil || v != want {
			t.Errorf("%s: %v, %v", state, v, err)
		}
	}
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"resendDelay":"2m"}}`)
	w.reports(t, thanosRuler(ns, "web"), "True")
	o.settle(t)
	if n := strings.Count(o.log.String(), "object is rejected"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "bad", `{"spec":{"groups":[{"name":"bad","rules":[{"record":"corrected","expr":"sum(up)"}]}]}}`)
	eventually(t, "the corrected rule is there", func() error {
		if text := fmt.Sprint(w.rulerRules(t, ns, "web")); !strings.Contains(text, "corrected") {
			return fmt.Errorf("rules %s", text)
		}
		return nil
	})
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"ruleSelector":null}}`)
	w.reports(t, thanosRuler(ns, "web"), "True", "NoSelectedResources")
	if text := fmt.Sprint(w.rulerRules(t, ns, "web")); text != "map[thanos-ruler-web-rulefiles-0:map[]]" {
		t.Errorf("rules %s", text)
	}
}

// A second ConfigMap replaces the pods only in the layout of the reference, and rules are never missing in between.
func TestRulerOfManyRules(t *testing.T) {
	w := start(t)
	t.Parallel()
	for layout, same := range map[string]bool{"split": true, "single": false} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			id := "ruler-many-" + layout
			o := w.operator(t, id, "", "--controller-id="+id, "--reloader-layout="+layout)
			ns := w.rulerDeployed(t, o, id)
			before := w.podOf(t, ns, "thanos-ruler-web")
			set, err := w.get(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-web")
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(3, 4))
			for i := range 3 {
				w.apply(t, fmt.Sprintf("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r%d, namespace: %s}\n"+
					"spec: {groups: [{name: r, rules: [{alert: A, expr: up, annotations: {noise: %s}}]}]}", i, ns, noise(r, 350_000)))
			}
			holds := func(files, most int) {
				t.Helper()
				eventually(t, fmt.Sprintf("%d files in at most %d ConfigMaps", files, most), func() error {
					n, maps := 0, w.rulerRules(t, ns, "web")
					for _, m := range maps {
						n += len(m)
					}
					if n != files || len(maps) > most || len(maps) < most-1 {
						return fmt.Errorf("%d files in %d ConfigMaps", n, len(maps))
					}
					return nil
				})
				w.reports(t, thanosRuler(ns, "web"), "True")
				o.settle(t)
			}
			holds(4, 3)
			now, err := w.get(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-web")
			if err != nil {
				t.Fatal(err)
			}
			if unchanged := now.GetGeneration() == set.GetGeneration(); now.GetUID() != set.GetUID() || unchanged != same {
				t.Errorf("generation %d, was %d", now.GetGeneration(), set.GetGeneration())
			}
			for name := range w.rulerRules(t, ns, "web") {
				if !strings.Contains(fmt.Sprint(now.Object["spec"]), "/etc/thanos/rules/"+name) {
					t.Errorf("ConfigMap %s is not mounted", name)
				}
			}
			if after := w.podOf(t, ns, "thanos-ruler-web"); same && after.GetUID() != before.GetUID() {
				t.Error("the pod was replaced")
			}
			for i := range 3 {
				w.delete(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, fmt.Sprintf("r%d", i))
			}
			holds(1, 1)
			w.rulerRuns(t, ns, "app:up")
		})
	}
}
