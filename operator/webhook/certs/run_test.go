package certs

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// fixture is a fake cluster with one configuration of each kind.
type fixture struct {
	*Options
	kube *fake.Clientset
	crds *crdfake.Clientset
	did  []string // the writes, in order
}

func newFixture(t *testing.T, objects ...runtime.Object) *fixture {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "alertmanagerconfigs.monitoring.coreos.com", ResourceVersion: "1"}}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "demo", Name: "webhook"}},
	}}
	b := &fixture{kube: fake.NewSimpleClientset(objects...), crds: crdfake.NewSimpleClientset(crd)}
	b.Options = &Options{
		Writer:    apply.Webhooks{Kube: b.kube, CRDs: b.crds.ApiextensionsV1().CustomResourceDefinitions()},
		Namespace: "demo", Name: "certs", Logger: slog.New(slog.DiscardHandler),
	}
	note := func(a k8stesting.Action) (bool, runtime.Object, error) {
		if a.GetVerb() != "get" {
			b.did = append(b.did, a.GetVerb()+" "+a.GetResource().Resource)
		}
		return false, nil, nil
	}
	b.kube.PrependReactor("*", "*", note)
	b.crds.PrependReactor("*", "*", note)
	b.kube.PrependReactor("create", "secrets", func(a k8stesting.Action) (bool, runtime.Object, error) {
		a.(k8stesting.CreateAction).GetObject().(*corev1.Secret).ResourceVersion = "1" // as the API server does
		return false, nil, nil
	})
	return b
}

func configuration() *admissionregistrationv1.ValidatingWebhookConfiguration {
	link := "https://127.0.0.1:8443/x"
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "firekeeper-prometheusrules", ResourceVersion: "1"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{
			{ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "demo", Name: "webhook"}}},
			{ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &link}},
		},
	}
}

func (b *fixture) secret(t *testing.T) map[string][]byte {
	t.Helper()
	s, err := b.kube.CoreV1().Secrets("demo").Get(t.Context(), "certs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Data
}

// The CA is written everywhere before the Secret gets the certificate. After that, nothing
// is written until a renewal is due or a configuration changes.
func TestOnce(t *testing.T) {
	b := newFixture(t, configuration())
	do := func(now time.Time, want ...string) {
		t.Helper()
		b.did = nil
		if err := b.once(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		slices.Sort(b.did[:max(0, len(b.did)-1)]) // the callers are written in random order
		if !slices.Equal(b.did, want) {
			t.Errorf("did %q, want %q", b.did, want)
		}
	}
	do(begin, "patch customresourcedefinitions", "patch validatingwebhookconfigurations", "create secrets")
	data := b.secret(t)
	if err := serves(t, data, data["ca.crt"], begin); err != nil {
		t.Error(err)
	}
	live, err := b.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "firekeeper-prometheusrules", metav1.GetOptions{})
	if err != nil || !bytes.Equal(live.Webhooks[0].ClientConfig.CABundle, data["ca.crt"]) || !bytes.Equal(live.Webhooks[1].ClientConfig.CABundle, data["ca.crt"]) {
		t.Errorf("%+v %v", live, err)
	}
	do(begin.Add(time.Hour))
	do(begin.AddDate(0, 0, 61), "update secrets")
	live.Webhooks[1].ClientConfig.CABundle = nil
	if _, err := b.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	do(begin.AddDate(0, 0, 62), "patch validatingwebhookconfigurations")
	do(begin.AddDate(4, 0, 0), "patch customresourcedefinitions", "patch validatingwebhookconfigurations", "update secrets")

	before := b.secret(t)
	if err := b.kube.CoreV1().Secrets("demo").Delete(t.Context(), "certs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	do(begin.AddDate(4, 0, 1), "patch customresourcedefinitions", "patch validatingwebhookconfigurations", "create secrets")
	if err := serves(t, before, b.secret(t)["ca.crt"], begin.AddDate(4, 0, 1)); err != nil {
		t.Errorf("pods that have the certificate of the deleted Secret are not trusted: %v", err)
	}
}

// Without configurations, the controller does nothing.
func TestNobodyCalls(t *testing.T) {
	b := newFixture(t)
	b.Writer.CRDs = crdfake.NewSimpleClientset().ApiextensionsV1().CustomResourceDefinitions()
	if err := b.once(t.Context(), begin); err != nil || len(b.did) > 0 {
		t.Errorf("%v %q", err, b.did)
	}
}

// No certificate is issued that API servers would not trust, and the error names the
// missing permission.
func TestMissingPermission(t *testing.T) {
	for _, verb := range []string{"get", "patch"} {
		b := newFixture(t, configuration())
		b.kube.PrependReactor(verb, "validatingwebhookconfigurations", func(k8stesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}, "x", nil)
		})
		err := b.once(t.Context(), begin)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "ValidatingWebhookConfiguration firekeeper-prometheusrules: ") {
			t.Errorf("%s: %v", verb, err)
		}
		if slices.ContainsFunc(b.did, func(what string) bool { return strings.HasSuffix(what, " secrets") }) {
			t.Errorf("%s: did %q", verb, b.did)
		}
	}
}
