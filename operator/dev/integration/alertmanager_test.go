package integration

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// alertmanager selects the AlertmanagerConfig next to it.
const alertmanager = `
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata:
  name: web
  namespace: NAMESPACE
  annotations: {operator.prometheus.io/controller-id: "ID"}
spec:
  version: v0.33.1
  replicas: 1
  alertmanagerConfigSelector: {}
`

// routing returns an AlertmanagerConfig with a receiver of this name.
func routing(namespace, name, receiver string) string {
	return fmt.Sprintf(`
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  route: {receiver: %[3]s}
  receivers:
  - {name: %[3]s, webhookConfigs: [{url: "http://hook/"}]}
`, namespace, name, receiver)
}

// alertmanagerOf returns an Alertmanager with only its identity.
func alertmanagerOf(namespace, name string) *unstructured.Unstructured {
	o := owner(namespace, name)
	o.SetKind("Alertmanager")
	return o
}

// alertmanagerConfig returns the decoded configuration of the Alertmanager "web".
func (w *environment) alertmanagerConfig(t *testing.T, namespace string) (string, error) {
	t.Helper()
	s, err := w.kube.CoreV1().Secrets(namespace).Get(t.Context(), "alertmanager-web-generated", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(s.Data["alertmanager.yaml.gz"]))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// alertmanagerRuns waits until the configuration contains a text, or does not contain it.
func (w *environment) alertmanagerRuns(t *testing.T, namespace, text string, has bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("the configuration has %s: %t", text, has), func() error {
		config, err := w.alertmanagerConfig(t, namespace)
		if err == nil && strings.Contains(config, text) != has {
			err = errors.New(config)
		}
		return err
	})
}

// TestAlertmanager covers the life of an Alertmanager: the written objects, changes of selected objects, of its Secret
// and of its base, errors, and deletion.
func TestAlertmanager(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "am", "", "--controller-id=am")
	ns := w.namespace(t)
	calls := o.during(t, func() {
		w.apply(t, fill(alertmanager, ns, "am")+routing(ns, "team", "hook"))
		w.reports(t, alertmanagerOf(ns, "web"), "True")
		w.alertmanagerRuns(t, ns, ns+"/team/hook", true)
		o.settle(t)
	})
	t.Run("each object is created once", func(t *testing.T) {
		var created []string
		for _, c := range calls {
			if c.Verb == "create" && c.Response.Code < 300 && c.writes() && c.Object.Resource != "events" {
				created = append(created, c.Object.Resource)
			}
		}
		if want := []string{"secrets", "secrets", "secrets", "secrets", "services", "statefulsets"}; !slices.Equal(created, want) {
			t.Errorf("created %q, want %q", created, want)
		}
	})
	t.Run("a changed AlertmanagerConfig changes one Secret", func(t *testing.T) {
		wantCalls(t, o.during(t, func() {
			w.apply(t, routing(ns, "team", "mail"))
			w.alertmanagerRuns(t, ns, ns+"/team/mail", true)
		}), "update secrets alertmanager-web-generated")
	})
	t.Run("a wrong one is rejected alone", func(t *testing.T) {
		wrong := strings.Replace(routing(ns, "wrong", "hook"), "{receiver: hook}", "{receiver: nobody}", 1)
		w.apply(t, wrong)
		w.apply(t, routing(ns, "zeta", "late"))
		w.alertmanagerRuns(t, ns, ns+"/zeta/late", true)
		w.alertmanagerRuns(t, ns, ns+"/wrong/", false)
		w.reports(t, alertmanagerOf(ns, "web"), "True")
	})
	t.Run("a Secret of the user", func(t *testing.T) {
		secret := func(config string) string {
			return "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: alertmanager-web, namespace: " + ns + "}\nstringData:\n  a.tmpl: text\n  alertmanager.yaml: |\n    " + config
		}
		w.apply(t, secret("{route: {receiver: mine}, receivers: [{name: mine}]}"))
		w.alertmanagerRuns(t, ns, "receiver: mine", true)
		s, err := w.kube.CoreV1().Secrets(ns).Get(t.Context(), "alertmanager-web-generated", metav1.GetOptions{})
		if err != nil || string(s.Data["a.tmpl"]) != "text" {
			t.Errorf("the other key is %q, %v", s.Data["a.tmpl"], err)
		}
		w.apply(t, secret("{route: {receiver: nobody}}"))
		w.reports(t, alertmanagerOf(ns, "web"), "False")
		w.alertmanagerRuns(t, ns, "receiver: mine", true) // the last valid configuration is kept
		w.apply(t, secret("{route: {receiver: again}, receivers: [{name: again}]}"))
		w.alertmanagerRuns(t, ns, "receiver: again", true)
		w.reports(t, alertmanagerOf(ns, "web"), "True")
	})
	t.Run("a base by name", func(t *testing.T) {
		w.patch(t, "monitoring.coreos.com/v1", "Alertmanager", ns, "web", `{"spec":{"alertmanagerConfiguration":{"name":"base"}}}`)
		w.reports(t, alertmanagerOf(ns, "web"), "False")
		w.apply(t, routing(ns, "base", "first"))
		w.alertmanagerRuns(t, ns, ns+"/base/first", true)
		w.apply(t, routing(ns, "base", "second"))
		w.alertmanagerRuns(t, ns, ns+"/base/second", true)
		w.reports(t, alertmanagerOf(ns, "web"), "True")
	})
	t.Run("somebody deletes its Secret", func(t *testing.T) {
		w.delete(t, "v1", "Secret", ns, "alertmanager-web-generated")
		w.alertmanagerRuns(t, ns, ns+"/base/second", true)
	})
}
