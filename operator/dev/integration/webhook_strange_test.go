package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// strangeConfig is valid for the API server but not for Alertmanager.
const strangeConfig = `
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: strange, namespace: NAMESPACE}
spec:
  route: {receiver: a, routes: [{Receiver: a}, {receiver: [a]}, text, {matchers: [{Name: a, regex: 5}]}]}
  receivers:
  - {name: a, webhookConfigs: [{url: "http://hook/", maxAlerts: 3000000000}], opsgenieConfigs: [{updateAlerts: true, apiKey: {name: a, key: b, optional: true}}]}
`

// An object that was stored before the webhook was installed can be read in both versions, changed in the other one
// without loss, and deleted. Namespaces without it can be deleted, too.
func (w *environment) convertsStrange(t *testing.T, ns, plain string) {
	before, err := w.objects.Resource(alertmanagerConfigs("v1alpha1")).Namespace(ns).Get(t.Context(), "strange", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		list, err := w.objects.Resource(alertmanagerConfigs(version)).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			t.Fatalf("list %s: %v", version, err)
		}
	}
	changed, err := w.objects.Resource(alertmanagerConfigs("v1beta1")).Namespace(ns).Patch(t.Context(), "strange", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.objects.Resource(alertmanagerConfigs("v1beta1")).Namespace(ns).Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	after, err := w.objects.Resource(alertmanagerConfigs("v1alpha1")).Namespace(ns).Get(t.Context(), "strange", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" || after.GetLabels()["a"] != "b" || len(after.GetAnnotations()) > 0 {
		t.Errorf("changed in v1beta1, v1alpha1 has annotations %v and (before -, after +)\n%s", after.GetAnnotations(), diff)
	}
	s, err := w.refused(t, strings.NewReplacer("NAMESPACE", ns, "name: strange", "name: another", "3000000000", "3").Replace(strangeConfig))
	if err != nil {
		t.Fatal(err)
	}
	if want := `spec.route.routes[0].Receiver: unknown field, did you mean "receiver"?`; !strings.Contains(s.Message, want) {
		t.Errorf("refused with %s, want %s", s.Message, want)
	}
	if err := w.kube.CoreV1().Namespaces().Delete(t.Context(), plain, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another namespace is deleted", func() error {
		_, err := w.kube.CoreV1().Namespaces().Get(t.Context(), plain, metav1.GetOptions{})
		if err == nil {
			return errors.New("it is there")
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err := w.objects.Resource(alertmanagerConfigs("v1beta1")).Namespace(ns).Delete(t.Context(), "strange", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
