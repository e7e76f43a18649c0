package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rulerFails waits until the ThanosRuler "web" reports a failure that contains a text.
func (w *environment) rulerFails(t *testing.T, ns, text string) {
	t.Helper()
	w.waitFor(t, thanosRuler(ns, "web"), "reports the failure", func(o *unstructured.Unstructured) error {
		if err := hasCondition(o, "Reconciled", "False", "ReconciliationFailed"); err != nil {
			return err
		}
		if status := fmt.Sprint(o.Object["status"]); !strings.Contains(status, text) {
			return fmt.Errorf("status %s", status)
		}
		return nil
	})
}

// remoteWrites waits until the remote write file contains a text.
func (w *environment) remoteWrites(t *testing.T, ns, want string) {
	t.Helper()
	eventually(t, "remote write has "+want, func() error {
		s, err := w.kube.CoreV1().Secrets(ns).Get(t.Context(), "thanos-ruler-web-config", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if text := string(s.Data["remote-write.yaml"]); !strings.Contains(text, want) {
			return fmt.Errorf("it is %s", text)
		}
		return nil
	})
}

// The remote write configuration follows a Secret that is missing, created, changed and deleted, and does not leak its
// values.
func TestRulerRemoteWrite(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-write", "", "--controller-id=ruler-write")
	ns := w.rulerDeployed(t, o, "ruler-write")
	w.remoteWrites(t, ns, "remote_write: []")
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"remoteWrite":[{"url":"http://receive","sendNativeHistograms":true,
		"basicAuth":{"username":{"name":"login","key":"user"},"password":{"name":"login","key":"password"}},
		"tlsConfig":{"ca":{"secret":{"name":"tls","key":"ca"}}}}]}}`)
	w.rulerFails(t, ns, `spec.remoteWrite[0]`)
	w.rulerFails(t, ns, `login`)
	w.remoteWrites(t, ns, "remote_write: []") // the last valid configuration is kept
	w.apply(t, login(ns, "hunter-one"))
	w.rulerFails(t, ns, `tls`)
	w.apply(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: tls, namespace: "+ns+"}\nstringData: {ca: "+fmt.Sprintf("%q", selfSigned(t))+"}")
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.remoteWrites(t, ns, "password: hunter-one")
	w.remoteWrites(t, ns, "/etc/thanos/certs/0_"+ns+"_tls_ca")
	tls, err := w.kube.CoreV1().Secrets(ns).Get(t.Context(), "thanos-ruler-web-tls-assets-0", metav1.GetOptions{})
	if err != nil || !strings.Contains(string(tls.Data["0_"+ns+"_tls_ca"]), "BEGIN CERTIFICATE") {
		t.Errorf("TLS files %v, %v", tls.Data, err)
	}

	o.settle(t)
	calls := o.during(t, func() {
		w.apply(t, login(ns, "hunter-two"))
		w.remoteWrites(t, ns, "password: hunter-two")
		o.settle(t)
	})
	// The status reports the pods that the StatefulSet controller replaces in the meantime.
	calls = slices.DeleteFunc(calls, func(c call) bool { return c.Object.Subresource == "status" })
	// A change of the StatefulSet may be followed by another write of the same content.
	calls = slices.CompactFunc(calls, func(a, b call) bool { return a.what() == b.what() })
	wantCalls(t, calls, "get secrets login", "update secrets thanos-ruler-web-config", "update statefulsets thanos-ruler-web")

	t.Run("fields that the version does not support", func(t *testing.T) {
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"version":"v0.29.0","ruleQueryOffset":"1m"}}`)
		tr := w.reports(t, thanosRuler(ns, "web"), "True", "FieldsNotSupported")
		for _, field := range []string{"remote_write[0].send_native_histograms", "spec.ruleQueryOffset"} {
			if text := fmt.Sprint(tr.Object["status"]); !strings.Contains(text, field) {
				t.Errorf("no %s in %s", field, text)
			}
		}
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"version":"v0.23.0","ruleQueryOffset":null}}`)
		w.rulerFails(t, ns, "spec.remoteWrite")
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"version":null}}`)
		w.reports(t, thanosRuler(ns, "web"), "True")
		w.remoteWrites(t, ns, "send_native_histograms: true")
	})

	w.delete(t, "v1", "Secret", ns, "login")
	w.rulerFails(t, ns, "login")
	w.remoteWrites(t, ns, "password: hunter-two")
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"remoteWrite":null}}`)
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.remoteWrites(t, ns, "remote_write: []")
	o.settle(t)
	w.noSecrets(t, o, "hunter-", thanosRuler(ns, "web"))
}

// noSecrets fails the test if a secret value appears in the log, in an object or in an event of its namespace.
func (w *environment) noSecrets(t *testing.T, o *operator, secret string, objects ...*unstructured.Unstructured) {
	t.Helper()
	if strings.Contains(o.log.String(), secret) {
		t.Error("the log has a secret value")
	}
	for _, about := range objects {
		events, err := w.kube.EventsV1().Events(about.GetNamespace()).List(t.Context(), metav1.ListOptions{})
		if err != nil || strings.Contains(fmt.Sprint(events.Items), secret) {
			t.Errorf("an event has a secret value, %v", err)
		}
		now, err := w.of(t, about).Get(t.Context(), about.GetName(), metav1.GetOptions{})
		if err != nil || strings.Contains(fmt.Sprint(now.Object), secret) {
			t.Errorf("%s %s has a secret value, %v", about.GetKind(), about.GetName(), err)
		}
	}
}

// Nothing but the status of a paused ThanosRuler is written.
func TestRulerPaused(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-paused", "", "--controller-id=ruler-paused")
	ns := w.rulerDeployed(t, o, "ruler-paused")
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"paused":true}}`)
	w.waitFor(t, thanosRuler(ns, "web"), "says that it is paused", func(o *unstructured.Unstructured) error {
		if paused, _, _ := unstructured.NestedBool(o.Object, "status", "paused"); !paused {
			return fmt.Errorf("it does not")
		}
		return nil
	})
	o.settle(t)
	for _, c := range o.during(t, func() {
		w.delete(t, "v1", "Secret", ns, "thanos-ruler-web-config")
		w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[{"name":"app","rules":[{"record":"changed:up","expr":"sum(up)"}]}]}}`)
		w.patch(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-web", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`)
	}) {
		if c.writes() && c.resource() != "thanosrulers/status" {
			t.Errorf("call %s", c.what())
		}
	}
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"paused":false}}`)
	w.rulerRuns(t, ns, "changed:up")
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.rulerOwns(t, ns)
}

// The deprecated field works, and the status names its replacement.
func TestRulerExcludedFromEnforcement(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-enforce", "", "--controller-id=ruler-enforce")
	ns := w.rulerDeployed(t, o, "ruler-enforce")
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"enforcedNamespaceLabel":"tenant"}}`)
	w.rulerRuns(t, ns, `tenant="`+ns+`"`)
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"prometheusRulesExcludedFromEnforce":[{"ruleNamespace":"`+ns+`","ruleName":"app"}]}}`)
	w.rulerRuns(t, ns, "expr: sum(up)\n")
	tr := w.reports(t, thanosRuler(ns, "web"), "True", "DeprecatedFieldsInUse")
	if text := fmt.Sprint(tr.Object["status"]); !strings.Contains(text, "spec.prometheusRulesExcludedFromEnforce is deprecated, use spec.excludedFromEnforcement") {
		t.Errorf("status %s", text)
	}
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"prometheusRulesExcludedFromEnforce":null,"excludedFromEnforcement":[{"resource":"prometheusrules","namespace":"`+ns+`"}]}}`)
	w.waitFor(t, thanosRuler(ns, "web"), "has nothing to say", func(o *unstructured.Unstructured) error {
		if text := fmt.Sprint(o.Object["status"]); strings.Contains(text, "deprecated") {
			return fmt.Errorf("status %s", text)
		}
		return nil
	})
	w.rulerRuns(t, ns, "expr: sum(up)\n")
	o.settle(t)
}
