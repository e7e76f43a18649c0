package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const monitoringV1 = "monitoring.coreos.com/v1"

// alertmanagerWith returns an Alertmanager with a spec in YAML flow style.
func alertmanagerWith(namespace, name, id, spec string) string {
	return fmt.Sprintf(`
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: %s, namespace: %s, annotations: {operator.prometheus.io/controller-id: %q}}
spec: %s
`, name, namespace, id, spec)
}

// tenantConfig returns an AlertmanagerConfig with a webhook whose URL is in a Secret.
func tenantConfig(namespace, name, receiver, secret string) string {
	return fmt.Sprintf(`
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  route: {receiver: %[3]s}
  receivers:
  - {name: %[3]s, webhookConfigs: [{urlSecret: {name: %[4]s, key: url}}]}
`, namespace, name, receiver, secret)
}

// secretOf returns a Secret with one key.
func secretOf(namespace, name, key, value string) string {
	return fmt.Sprintf("\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: %s}\nstringData: {%s: %q}\n", name, namespace, key, value)
}

// alertmanagerFails waits until the Alertmanager "web" reports a failure that contains the text.
func (w *environment) alertmanagerFails(t *testing.T, ns, text string) {
	t.Helper()
	w.waitFor(t, alertmanagerOf(ns, "web"), "reports "+text, func(o *unstructured.Unstructured) error {
		if err := hasCondition(o, "Reconciled", "False", "ReconciliationFailed"); err != nil {
			return err
		}
		if status := fmt.Sprint(o.Object["status"]); !strings.Contains(status, text) {
			return fmt.Errorf("status %s", status)
		}
		return nil
	})
}

// alertmanagerLeaves waits until all objects of an Alertmanager are deleted.
func (w *environment) alertmanagerLeaves(t *testing.T, ns, name string) {
	t.Helper()
	w.gone(t, monitoringV1, "Alertmanager", ns, name)
	w.gone(t, "apps/v1", "StatefulSet", ns, "alertmanager-"+name)
	for _, suffix := range []string{"generated", "tls-assets-0", "web-config", "cluster-tls-config"} {
		w.gone(t, "v1", "Secret", ns, "alertmanager-"+name+"-"+suffix)
	}
}

// Two Alertmanagers in one namespace share their governing Service; the status of an AlertmanagerConfig lists both;
// deleting one does not affect the other.
func TestAlertmanagerBindings(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "am-bindings"
	flags := []string{"--controller-id=" + id, "--feature-gates=StatusForConfigurationResources=true"}
	o := w.operator(t, id, "", flags...)
	ns := w.namespace(t)
	says := func(t *testing.T, want ...string) {
		t.Helper()
		w.says(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, want...)
	}
	service := func(t *testing.T, want string) {
		t.Helper()
		eventually(t, "the Service is "+want, func() error {
			if got, err := w.shared(t, ns, "alertmanager-operated"); err != nil || got != want {
				return fmt.Errorf("it is %s, %v", got, err)
			}
			return nil
		})
	}
	w.apply(t, alertmanagerWith(ns, "web", id, "{alertmanagerConfigSelector: {}}")+routing(ns, "app", "hook"))
	says(t, "alertmanagers/web True")
	service(t, "web tcp-mesh udp-mesh; web")
	w.apply(t, alertmanagerWith(ns, "wide", id, "{alertmanagerConfigSelector: {}}"))
	says(t, "alertmanagers/web True", "alertmanagers/wide True")
	service(t, "web tcp-mesh udp-mesh; web wide")
	for _, name := range []string{"web", "wide"} {
		if am := w.reports(t, alertmanagerOf(ns, name), "True"); !slices.Equal(am.GetFinalizers(), []string{"monitoring.coreos.com/status-cleanup"}) {
			t.Errorf("finalizers of %s: %q", name, am.GetFinalizers())
		}
	}
	o.settle(t)

	t.Run("rejected with the field", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, "app", `{"spec":{"route":{"receiver":"nobody"}}}`)
			says(t, "alertmanagers/web False InvalidConfiguration", "alertmanagers/wide False InvalidConfiguration")
		})
		app, err := w.get(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, "app")
		if text := fmt.Sprint(app.Object["status"]); err != nil || strings.Count(text, `spec.route.receiver: there is no receiver "nobody"`) != 2 {
			t.Errorf("status %s, %v", text, err)
		}
		status := 0
		for _, c := range calls {
			switch c.what() {
			case "patch alertmanagerconfigs/status app":
				status++
			case "update services alertmanager-operated":
				t.Errorf("call %s", c.what())
			}
		}
		if status != 2 {
			t.Errorf("%d writes of the status: %q", status, texts(calls))
		}
		w.reports(t, alertmanagerOf(ns, "web"), "True")
	})
	t.Run("accepted again, and not selected", func(t *testing.T) {
		w.apply(t, routing(ns, "app", "hook"))
		says(t, "alertmanagers/web True", "alertmanagers/wide True")
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfigSelector":{"matchLabels":{"team":"a"}}}}`)
		says(t, "alertmanagers/wide True")
		w.patch(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, "app", `{"metadata":{"labels":{"team":"a"}}}`)
		says(t, "alertmanagers/web True", "alertmanagers/wide True")
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfigSelector":null}}`)
		says(t, "alertmanagers/wide True")
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfigSelector":{}}}`)
		says(t, "alertmanagers/web True", "alertmanagers/wide True")
		// The base does not need to be selected.
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfiguration":{"name":"app"}}}`)
		says(t, "alertmanagers/wide True")
		w.reports(t, alertmanagerOf(ns, "web"), "True")
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfiguration":null}}`)
		says(t, "alertmanagers/web True", "alertmanagers/wide True")
	})
	t.Run("another port name", func(t *testing.T) {
		w.patch(t, monitoringV1, "Alertmanager", ns, "wide", `{"spec":{"portName":"http"}}`)
		w.reports(t, alertmanagerOf(ns, "wide"), "True")
		o.settle(t)
		service(t, "web tcp-mesh udp-mesh; web wide")
		if !strings.Contains(o.log.String(), `port \"http\" (9093) is not in Service \"alertmanager-operated\"`) {
			t.Error("nobody is told that a port is missing")
		}
	})
	o.settle(t)
	o.stop(t)
	before := len(w.audit.calls(t, o.user))
	o = w.run(t, id, flags...)
	o.settle(t)
	t.Run("a restart writes nothing", func(t *testing.T) {
		for _, c := range w.audit.calls(t, o.user)[before:] {
			if c.writes() {
				t.Errorf("call %s", c.what())
			}
		}
	})
	t.Run("one is deleted while it is paused", func(t *testing.T) {
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"paused":true}}`)
		w.delete(t, monitoringV1, "Alertmanager", ns, "web")
		w.alertmanagerLeaves(t, ns, "web")
		says(t, "alertmanagers/wide True")
		service(t, "http tcp-mesh udp-mesh; wide")
	})
	t.Run("the last one is deleted while its base is missing", func(t *testing.T) {
		w.patch(t, monitoringV1, "Alertmanager", ns, "wide", `{"spec":{"alertmanagerConfiguration":{"name":"none"}}}`)
		w.reports(t, alertmanagerOf(ns, "wide"), "False", "ReconciliationFailed")
		says(t, "alertmanagers/wide True")
		w.delete(t, monitoringV1, "Alertmanager", ns, "wide")
		w.alertmanagerLeaves(t, ns, "wide")
		says(t)
		w.gone(t, "v1", "Service", ns, "alertmanager-operated")
		o.settle(t)
		for _, metric := range []string{"prometheus_operator_syncs", "prometheus_operator_managed_resources"} {
			if v, err := o.metric(metric, "controller", "alertmanager"); err == nil && v != 0 {
				t.Errorf("%s = %v", metric, v)
			}
		}
	})
}

// The configuration follows the user's Secret: it is missing, created, changed while the Alertmanager is paused,
// invalid in several ways, and deleted.
func TestAlertmanagerSecret(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "am-secret"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.namespace(t)
	web := alertmanagerOf(ns, "web")
	secret := func(config string) { w.apply(t, secretOf(ns, "mine", "alertmanager.yaml", config)) }
	good := func(receiver, password string) string {
		return fmt.Sprintf("{global: {smtp_auth_password: %s}, route: {receiver: %[2]s}, receivers: [{name: %[2]s}]}", password, receiver)
	}
	w.apply(t, alertmanagerWith(ns, "web", id, "{configSecret: mine, alertmanagerConfigSelector: {}}"))
	w.reports(t, web, "True")
	w.alertmanagerRuns(t, ns, "receiver: \"null\"", true)
	secret(good("first", "hunter-one"))
	w.alertmanagerRuns(t, ns, "smtp_auth_password: hunter-one", true)
	o.settle(t)

	t.Run("a change is one write", func(t *testing.T) {
		wantCalls(t, o.during(t, func() {
			secret(good("first", "hunter-two"))
			w.alertmanagerRuns(t, ns, "smtp_auth_password: hunter-two", true)
		}), "get secrets mine", "update secrets alertmanager-web-generated")
	})
	t.Run("paused", func(t *testing.T) {
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"paused":true}}`)
		w.waitFor(t, web, "says that it is paused", func(o *unstructured.Unstructured) error {
			if paused, _, _ := unstructured.NestedBool(o.Object, "status", "paused"); !paused {
				return fmt.Errorf("it does not")
			}
			return nil
		})
		o.settle(t)
		for _, c := range o.during(t, func() {
			secret(good("second", "hunter-two"))
			w.apply(t, routing(ns, "late", "hook"))
			w.delete(t, "v1", "Secret", ns, "alertmanager-web-web-config")
			w.patch(t, "apps/v1", "StatefulSet", ns, "alertmanager-web", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`)
		}) {
			if c.writes() && c.resource() != "alertmanagers/status" {
				t.Errorf("call %s", c.what())
			}
		}
		w.alertmanagerRuns(t, ns, "receiver: first", true)
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"paused":false}}`)
		w.alertmanagerRuns(t, ns, "receiver: second", true)
		w.alertmanagerRuns(t, ns, ns+"/late/hook", true)
		w.waitFor(t, stateful(ns, "alertmanager-web"), "is as it was", func(s *unstructured.Unstructured) error {
			if seconds, _, _ := unstructured.NestedInt64(s.Object, "spec", "template", "spec", "terminationGracePeriodSeconds"); seconds == 7 {
				return fmt.Errorf("terminationGracePeriodSeconds %d", seconds)
			}
			return nil
		})
		w.reports(t, web, "True")
	})
	t.Run("invalid", func(t *testing.T) {
		for _, tc := range []struct{ config, want string }{
			{"hunter-three", "want an object with route and receivers"},
			{"route: [hunter-three", "yaml: line 1"},
			{"{global: {slack_api_url: hunter-three}, route: {receiver: a}, receivers: [{name: a, slack_configs: [{channel: b}]}]}", "global.slack_api_url: want a URL that begins with http"},
			{"{global: {smtp_auth_password: hunter-three}, route: {receiver: nobody}, receivers: [{name: a}]}", `undefined receiver \"nobody\"`},
			{"{global: {smtp_auth_password: hunter-three}, route: {receiver: a, matchers: [a=b]}, receivers: [{name: a}]}", "root route must not have any matchers"},
		} {
			secret(tc.config)
			w.alertmanagerFails(t, ns, strings.ReplaceAll(tc.want, `\"`, `"`))
			w.alertmanagerFails(t, ns, `Secret "`+ns+`/mine": key "alertmanager.yaml": `)
			w.alertmanagerRuns(t, ns, "receiver: second", true)
		}
		// Changes that do not depend on the Secret are noticed but have no effect without a base.
		w.apply(t, routing(ns, "later", "hook"))
		o.settle(t)
		w.alertmanagerRuns(t, ns, ns+"/later/hook", false)
		secret(good("third", "hunter-three"))
		w.alertmanagerRuns(t, ns, "receiver: third", true)
		w.alertmanagerRuns(t, ns, ns+"/later/hook", true)
		w.reports(t, web, "True")
	})
	t.Run("deleted", func(t *testing.T) {
		w.delete(t, "v1", "Secret", ns, "mine")
		w.alertmanagerRuns(t, ns, "receiver: \"null\"", true)
		w.alertmanagerRuns(t, ns, "hunter-", false)
		w.alertmanagerRuns(t, ns, ns+"/late/hook", true)
		w.reports(t, web, "True")
	})
	o.settle(t)
	w.noSecrets(t, o, "hunter-", web)
	if s, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "alertmanager-web", metav1.GetOptions{}); err != nil || strings.Contains(fmt.Sprint(s), "hunter-") {
		t.Errorf("the StatefulSet has a secret value, %v", err)
	}
}

// An AlertmanagerConfig serves as the base without a selector: the base and its Secret are missing, created, changed
// and deleted.
func TestAlertmanagerNamedBase(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "am-base"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.namespace(t)
	web := alertmanagerOf(ns, "web")
	w.apply(t, alertmanagerWith(ns, "web", id, "{alertmanagerConfiguration: {name: base, global: {smtp: {from: a@b, smartHost: {host: mail, port: '25'}, authPassword: {name: mail, key: password}}}}}"))
	w.alertmanagerFails(t, ns, `spec.alertmanagerConfiguration.name: AlertmanagerConfig "`+ns+`/base" does not exist`)
	if _, err := w.kube.CoreV1().Secrets(ns).Get(t.Context(), "alertmanager-web-generated", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("something was written without a base: %v", err)
	}
	w.apply(t, tenantConfig(ns, "base", "first", "hook"))
	w.alertmanagerFails(t, ns, `mail`)
	w.apply(t, secretOf(ns, "mail", "password", "hunter-one"))
	w.alertmanagerFails(t, ns, `spec.receivers[0].webhookConfigs[0].urlSecret`)
	w.apply(t, secretOf(ns, "hook", "url", "http://hunter-hook/one"))
	w.alertmanagerRuns(t, ns, "url: http://hunter-hook/one", true)
	w.alertmanagerRuns(t, ns, "smtp_auth_password: hunter-one", true)
	w.reports(t, web, "True")
	w.apply(t, routing(ns, "other", "other")) // not selected
	o.settle(t)
	w.alertmanagerRuns(t, ns, "other", false)

	t.Run("what changes is one write", func(t *testing.T) {
		wantCalls(t, o.during(t, func() {
			w.apply(t, tenantConfig(ns, "base", "second", "hook"))
			w.alertmanagerRuns(t, ns, "receiver: "+ns+"/base/second", true)
		}), "update secrets alertmanager-web-generated")
		wantCalls(t, o.during(t, func() {
			w.apply(t, secretOf(ns, "mail", "password", "hunter-two"))
			w.alertmanagerRuns(t, ns, "smtp_auth_password: hunter-two", true)
		}), "get secrets mail", "update secrets alertmanager-web-generated")
		wantCalls(t, o.during(t, func() {
			w.apply(t, secretOf(ns, "hook", "url", "http://hunter-hook/two"))
			w.alertmanagerRuns(t, ns, "url: http://hunter-hook/two", true)
		}), "get secrets hook", "update secrets alertmanager-web-generated")
		wantCalls(t, o.during(t, func() { w.apply(t, routing(ns, "other", "more")) }))
	})
	t.Run("selected and the base at once", func(t *testing.T) {
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfigSelector":{}}}`)
		w.alertmanagerRuns(t, ns, "receiver: "+ns+"/other/more", true)
		config, err := w.alertmanagerConfig(t, ns)
		if n := strings.Count(config, "name: "+ns+"/base/second"); err != nil || n != 1 {
			t.Errorf("the base is there %d times, %v", n, err)
		}
	})
	t.Run("invalid or gone", func(t *testing.T) {
		w.patch(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, "base", `{"spec":{"route":{"continue":true}}}`)
		w.alertmanagerFails(t, ns, `AlertmanagerConfig "`+ns+`/base": spec.route.continue`)
		w.apply(t, secretOf(ns, "hook", "url", "hunter-hook-three"))
		w.patch(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, "base", `{"spec":{"route":{"continue":false}}}`)
		w.alertmanagerFails(t, ns, `spec.receivers[0].webhookConfigs[0].urlSecret`)
		w.delete(t, "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", ns, "base")
		w.alertmanagerFails(t, ns, `AlertmanagerConfig "`+ns+`/base" does not exist`)
		w.alertmanagerRuns(t, ns, "url: http://hunter-hook/two", true)
		w.patch(t, monitoringV1, "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfiguration":null}}`)
		w.alertmanagerRuns(t, ns, "hunter-", false)
		w.alertmanagerRuns(t, ns, "receiver: \"null\"", true)
		w.reports(t, web, "True")
	})
	o.settle(t)
	w.noSecrets(t, o, "hunter-", web)
}

// Mistakes of one tenant, also in the Secrets it refers to, never delay the changes of another.
func TestAlertmanagerTenants(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "am-tenants"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.namespace(t)
	a, b := w.namespace(t, "tenants", ns), w.namespace(t)
	web := alertmanagerOf(ns, "web")
	w.apply(t, alertmanagerWith(ns, "web", id, "{alertmanagerConfigSelector: {}, alertmanagerConfigNamespaceSelector: {matchLabels: {tenants: "+ns+"}}}"))
	w.apply(t, secretOf(a, "hook", "url", "http://hunter-a/one")+tenantConfig(a, "app", "first", "hook"))
	w.apply(t, secretOf(b, "mine", "url", "http://hunter-b/")+tenantConfig(b, "app", "first", "mine"))
	w.alertmanagerRuns(t, ns, "url: http://hunter-a/one", true)
	w.alertmanagerRuns(t, ns, b+"/app", false)
	if _, err := w.kube.CoreV1().Namespaces().Patch(t.Context(), b, "application/merge-patch+json", []byte(`{"metadata":{"labels":{"tenants":"`+ns+`"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.alertmanagerRuns(t, ns, "url: http://hunter-b/", true)
	w.reports(t, web, "True")
	w.waitFor(t, web, "reports its pod", func(o *unstructured.Unstructured) error { // later, the status would be written once more
		if n, _, _ := unstructured.NestedInt64(o.Object, "status", "updatedReplicas"); n != 1 {
			return fmt.Errorf("%d updated replicas", n)
		}
		return nil
	})
	o.settle(t)

	wantCalls(t, o.during(t, func() {
		w.apply(t, secretOf(a, "hook", "url", "http://hunter-a/two"))
		w.alertmanagerRuns(t, ns, "url: http://hunter-a/two", true)
	}), "get secrets hook", "update secrets alertmanager-web-generated")

	for _, tc := range []struct{ name, bad, field string }{
		{"a Secret of another namespace", tenantConfig(a, "app", "first", "mine"), `Secret "` + a + `/mine"`},
		{"a value that is no URL", secretOf(a, "bad", "url", "hunter-bad") + tenantConfig(a, "app", "first", "bad"), `spec.receivers[0].webhookConfigs[0].urlSecret`},
		{"an undefined receiver", strings.Replace(tenantConfig(a, "app", "first", "hook"), "{receiver: first}", "{receiver: gone}", 1), `spec.route.receiver`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w.apply(t, tc.bad)
			w.alertmanagerRuns(t, ns, a+"/app", false)
			eventually(t, "an Event tells of "+tc.field, func() error {
				var notes []string
				for _, e := range w.list(t, "events.k8s.io/v1", "Event", a) {
					notes = append(notes, fmt.Sprint(e.Object["note"]))
				}
				if !strings.Contains(strings.Join(notes, "\n"), tc.field) {
					return fmt.Errorf("events %q", notes)
				}
				return nil
			})
			// Changes of the other tenant are written meanwhile, and those of the first one after the fix.
			w.apply(t, tenantConfig(b, "app", "during-"+fmt.Sprint(len(tc.name)), "mine"))
			w.alertmanagerRuns(t, ns, fmt.Sprintf("receiver: %s/app/during-%d", b, len(tc.name)), true)
			w.reports(t, web, "True")
			w.apply(t, tenantConfig(a, "app", "first", "hook"))
			w.alertmanagerRuns(t, ns, a+"/app/first", true)
		})
	}
	t.Run("a Secret that goes", func(t *testing.T) {
		w.delete(t, "v1", "Secret", a, "hook")
		w.alertmanagerRuns(t, ns, a+"/app", false)
		w.apply(t, secretOf(a, "hook", "url", "http://hunter-a/three"))
		w.alertmanagerRuns(t, ns, "url: http://hunter-a/three", true)
	})
	o.settle(t)
	w.noSecrets(t, o, "hunter-", web, alertmanagerConfigOf(a, "app"), alertmanagerConfigOf(b, "app"))
	t.Run("the Alertmanager goes", func(t *testing.T) {
		w.delete(t, monitoringV1, "Alertmanager", ns, "web")
		w.alertmanagerLeaves(t, ns, "web")
		wantCalls(t, o.during(t, func() { w.apply(t, tenantConfig(a, "app", "last", "hook")) }))
	})
}

// alertmanagerConfigOf returns an AlertmanagerConfig with only its identity.
func alertmanagerConfigOf(namespace, name string) *unstructured.Unstructured {
	o := alertmanagerOf(namespace, name)
	o.SetAPIVersion("monitoring.coreos.com/v1alpha1")
	o.SetKind("AlertmanagerConfig")
	return o
}
