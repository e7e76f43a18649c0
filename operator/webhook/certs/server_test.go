package certs

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// The leader creates the certificate, others serve it; clients with the ConfigMap trust it at any time,
// also when the CA is renewed and when the Secret is lost.
func TestServer(t *testing.T) {
	kube := fake.NewClientset()
	version := 0
	kube.PrependReactor("*", "*", func(a k8stesting.Action) (bool, runtime.Object, error) { // as the API server does
		if write, is := a.(k8stesting.CreateAction); is {
			version++
			write.GetObject().(metav1.Object).SetResourceVersion(fmt.Sprint(version))
		}
		return false, nil, nil
	})
	replica := func() *Server {
		return &Server{Writer: apply.Webhooks{Kube: kube}, Name: "discovery", Namespace: "ns", Secret: "certificate", ConfigMap: "ca",
			Hosts: []string{"discovery.ns.svc", "discovery.ns"}, Logger: slog.New(slog.DiscardHandler)}
	}
	leader, other := replica(), replica()
	now := time.Now()
	bundle := func() string {
		t.Helper()
		c, err := kube.CoreV1().ConfigMaps("ns").Get(t.Context(), "ca", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Data["ca.crt"]
	}
	trusts := func(bundle string, s *Server) {
		t.Helper()
		c, err := s.Certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		own, err := x509.ParseCertificate(c.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(bundle))
		if _, err := own.Verify(x509.VerifyOptions{Roots: roots, DNSName: "discovery.ns.svc", CurrentTime: now}); err != nil {
			t.Error(err)
		}
	}
	once := func(s *Server, leads bool) {
		t.Helper()
		if err := s.once(t.Context(), now, leads); err != nil {
			t.Fatal(err)
		}
	}
	once(other, false)
	if _, err := other.Certificate(nil); err == nil {
		t.Error("a certificate from nowhere")
	}
	once(leader, true)
	once(other, false)
	first := bundle()
	trusts(first, leader)
	trusts(first, other)
	writes := len(kube.Actions())
	once(leader, true)
	for _, a := range kube.Actions()[writes:] {
		if a.GetVerb() != "get" {
			t.Errorf("%s of %s although nothing changed", a.GetVerb(), a.GetResource().Resource)
		}
	}
	now = now.Add(4 * 365 * 24 * time.Hour) // the CA is due
	once(leader, true)
	once(other, false)
	if bundle() == first {
		t.Error("the CA was not renewed")
	}
	trusts(bundle(), leader)
	trusts(bundle(), other)
	if err := kube.CoreV1().Secrets("ns").Delete(t.Context(), "certificate", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	once(leader, true)
	trusts(bundle(), leader)
	trusts(bundle(), other) // which still serves the old certificate

	kube = fake.NewClientset(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certificate"}, Data: map[string][]byte{"tls.crt": []byte("nonsense")}})
	if err := replica().once(t.Context(), now, false); err == nil {
		t.Error("an invalid certificate was served")
	}
}
