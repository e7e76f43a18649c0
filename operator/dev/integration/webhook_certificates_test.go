package integration

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepsCertificate lets an operator rotate the certificate and the CA, with the permissions of the component.
func (w *environment) keepsCertificate(t *testing.T, h *webhook, ns string) {
	w.applyFile(t, deploy(t, "components/webhook-certificates/rbac.yaml"))
	first := w.issues(t, h)
	w.servesOn(t, ns)
	if _, err := w.objects.Resource(alertmanagerConfigs("v1beta1")).Namespace(ns).Get(t.Context(), "beta", metav1.GetOptions{}); err != nil {
		t.Errorf("conversion: %v", err)
	}

	first.stop(t)
	w.expire(t, h) // connections of the API server outlive it
	w.issues(t, h)
	w.servesOn(t, ns)
}

// issues starts an operator that renews the certificate, and waits until it has done so.
func (w *environment) issues(t *testing.T, h *webhook) *operator {
	t.Helper()
	o := w.launch(t, "prometheus-operator", "--manage-webhook-certificates=firekeeper/"+certificates)
	eventually(t, "the operator issues a certificate", func() error {
		s, err := w.kube.CoreV1().Secrets("firekeeper").Get(t.Context(), certificates, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pair, err := tls.X509KeyPair(s.Data["tls.crt"], s.Data["tls.key"])
		if err != nil {
			return err
		}
		if time.Now().After(pair.Leaf.NotAfter) {
			return fmt.Errorf("it has expired at %s", pair.Leaf.NotAfter)
		}
		h.mount(t, s.Data)
		return w.trust(t, s.Data["ca.crt"])
	})
	return o
}

// certificates is the name of the Secret of the webhook's certificate.
const certificates = "admission-webhook-certs"

// mount writes a certificate for the webhook, like the kubelet.
func (h *webhook) mount(t *testing.T, data map[string][]byte) {
	t.Helper()
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.WriteFile(filepath.Join(h.dir, name), data[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// servesOn waits until the webhook rejects an invalid rule.
func (w *environment) servesOn(t *testing.T, ns string) {
	t.Helper()
	eventually(t, "the webhook serves on", func() error {
		s, err := w.refused(t, ruleOf(ns, "bad", "{record: a, expr: '('}"))
		if err == nil && !strings.Contains(s.Message, "spec.groups[0].rules[0].expr") {
			err = errors.New(s.Message)
		}
		return err
	})
}

// expire replaces the certificate by one that the same CA has issued and that has expired, as after months without an
// operator.
func (w *environment) expire(t *testing.T, h *webhook) {
	t.Helper()
	secrets := w.kube.CoreV1().Secrets("firekeeper")
	s, err := secrets.Get(t.Context(), certificates, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := tls.X509KeyPair(s.Data["ca.crt"], s.Data["ca.key"])
	if err != nil {
		t.Fatal(err)
	}
	own, err := tls.X509KeyPair(s.Data["tls.crt"], s.Data["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	old := *own.Leaf
	old.NotBefore, old.NotAfter = time.Now().AddDate(0, -4, 0), time.Now().AddDate(0, -1, 0)
	der, err := x509.CreateCertificate(rand.Reader, &old, ca.Leaf, own.Leaf.PublicKey, ca.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	s.Data["tls.crt"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if _, err := secrets.Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	h.mount(t, s.Data)
}

// trust returns an error until the configurations and the CRD contain exactly this CA.
func (w *environment) trust(t *testing.T, ca []byte) error {
	t.Helper()
	text := base64.StdEncoding.EncodeToString(ca)
	for _, o := range [][3]string{
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "firekeeper-prometheusrules"},
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "firekeeper-alertmanagerconfigs"},
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "firekeeper-validate-all"},
		{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "firekeeper-prometheusrules"},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "alertmanagerconfigs.monitoring.coreos.com"},
	} {
		live, err := w.get(t, o[0], o[1], "", o[2])
		if err != nil {
			return err
		}
		raw, err := live.MarshalJSON()
		if err != nil {
			return err
		}
		if !strings.Contains(string(raw), `"caBundle":"`+text+`"`) {
			return fmt.Errorf("%s %s has another CA", o[1], o[2])
		}
	}
	return nil
}
