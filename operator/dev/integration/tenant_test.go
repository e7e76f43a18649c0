package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// monitorWith returns a ServiceMonitor with one endpoint and additional lines of it.
func monitorWith(namespace, name, interval, more string) string {
	return fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: %q, namespace: %s}
spec:
  selector: {}
  endpoints:
  - port: http
    interval: %s
    %s
`, name, namespace, interval, more)
}

func basicAuth(secret string) string {
	return fmt.Sprintf("basicAuth: {username: {name: %[1]q, key: user}, password: {name: %[1]q, key: password}}", secret)
}

// rejects waits until an operator counts this number of rejected ServiceMonitors.
func (o *operator) rejects(t *testing.T, want float64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%v rejected ServiceMonitors", want), func() error {
		v, err := o.metric("prometheus_operator_managed_resources", "resource", "ServiceMonitor", "state", "rejected")
		if err == nil && v != want {
			err = fmt.Errorf("%v", v)
		}
		return err
	})
}

// configured waits until the configuration of the Prometheus "web" contains a text.
func (w *environment) configured(t *testing.T, namespace, text string) {
	t.Helper()
	eventually(t, "the configuration has "+text, func() error {
		got, err := w.configuration(t, namespace, "prometheus-web")
		if err == nil && !strings.Contains(got, text) {
			err = fmt.Errorf("it has not")
		}
		return err
	})
}

// References to objects that are missing or have invalid names, where a selector restricts the watch of Secrets as in
// the kube-prometheus-stack chart.
func TestReferencesUnderASelector(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "tenant-names", "", "--controller-id=tenant-names", "--secret-field-selector=type!=helm.sh/release.v1")
	ns := w.deployed(t, o, "tenant-names")
	bad := []string{"a/b", "..", "50%", "UPPER", strings.Repeat("x", 300)}
	for i, name := range bad {
		w.apply(t, monitorWith(ns, fmt.Sprint("bad-", i), "30s", basicAuth(name)))
	}
	w.apply(t, monitorWith(ns, "missing", "30s", basicAuth("gone")))
	o.rejects(t, float64(len(bad)+1))
	o.settle(t)
	calls := o.during(t, func() {
		for _, interval := range []string{"17s", "18s", "19s"} {
			w.apply(t, monitorWith(ns, "app", interval, ""))
			w.configured(t, ns, "scrape_interval: "+interval)
		}
	})
	for _, c := range calls {
		if c.Verb == "get" && c.Object.Resource == "secrets" && c.Object.Name == "gone" {
			t.Error("a missing Secret is read again for a change that has nothing to do with it")
		}
	}
	w.reconciled(t, ns, "web", "True")
	if note := w.event(t, ns, "bad-0"); !strings.Contains(note.Note, `basicAuth.username.name: "a/b" is not a valid name of a Secret`) {
		t.Errorf("event %q", note.Note)
	}
	w.apply(t, strings.ReplaceAll(login(ns, "hunter-one"), "name: login", "name: gone"))
	o.rejects(t, float64(len(bad)))
	w.configured(t, ns, "password: hunter-one")
}

// The operator may not read the Secrets of one namespace.
func TestSecretsOfANamespaceAreForbidden(t *testing.T) {
	w := start(t)
	t.Parallel()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}}}
	for _, r := range w.rules(t) {
		r.Resources = slices.DeleteFunc(slices.Clone(r.Resources), func(r string) bool { return r == "secrets" })
		if len(r.Resources) > 0 {
			rules = append(rules, r)
		}
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "integration-tenant-forbidden"}, Rules: rules}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ns, tenant := w.namespace(t, "tenancy", "allowed"), w.namespace(t, "tenancy", "forbidden")
	w.apply(t, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: integration-tenant-forbidden, namespace: %s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
subjects: [{kind: ServiceAccount, name: tenant-forbidden, namespace: firekeeper}]
`, ns, clusterRole))
	o := w.operator(t, "tenant-forbidden", role.Name, "--controller-id=tenant-forbidden")
	w.apply(t, fill(web, ns, "tenant-forbidden"))
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"serviceMonitorNamespaceSelector":{"matchExpressions":[{"key":"tenancy","operator":"Exists"}]}}}`)
	w.reconciled(t, ns, "web", "True")
	for _, n := range []string{ns, tenant} {
		w.apply(t, login(n, "hunter-"+n))
		w.apply(t, monitorWith(n, "secured", "30s", basicAuth("login")))
	}
	o.rejects(t, 1)
	w.apply(t, monitorWith(ns, "app", "17s", ""))
	w.configured(t, ns, "scrape_interval: 17s")
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "serviceMonitor/"+ns+"/secured/0")
	w.reconciled(t, ns, "web", "True")
	if note := w.event(t, tenant, "secured"); !strings.Contains(note.Note, fmt.Sprintf("no permission to get secrets in namespace %q", tenant)) {
		t.Errorf("event %q", note.Note)
	}
	o.settle(t)
	if strings.Contains(o.log.String(), "reconciliation failed") {
		t.Error("one object stops all")
	}
}

// selfSigned returns a certificate in PEM form.
func selfSigned(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// Objects with names, keys and values of the maximum length are accepted or rejected individually, and the change of a
// valid object is written.
func TestHostileTenants(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "tenant-hostile", "", "--controller-id=tenant-hostile")
	ns := w.deployed(t, o, "tenant-hostile")
	ca := selfSigned(t)
	long := strings.Repeat("k", 253)
	name := strings.Repeat("s", 253)
	whole := ca + strings.Repeat("\n", budget.TLSFileBytes-len(ca))
	larger := ca + strings.Repeat("\n", corev1.MaxSecretSize-2*budget.TLSFileBytes-len(ca))
	for _, s := range []*corev1.Secret{
		{ObjectMeta: metav1.ObjectMeta{Name: "tls"}, StringData: map[string]string{"ca": ca, long: ca, long[:220]: ca}},
		{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"ca": ca}},
		{ObjectMeta: metav1.ObjectMeta{Name: "large"}, StringData: map[string]string{"ca": whole, "larger": larger}},
	} {
		if _, err := w.kube.CoreV1().Secrets(ns).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	caOf := func(secret, key string) string {
		return fmt.Sprintf("tlsConfig: {ca: {secret: {name: %q, key: %q}}}", secret, key)
	}
	w.apply(t, monitorWith(ns, "bad-key", "30s", caOf("tls", long)))
	w.apply(t, monitorWith(ns, "bad-name", "30s", caOf(name, "ca")))
	w.apply(t, monitorWith(ns, "bad-sum", "30s", caOf("tls", long[:220])+"\n    path: "+strings.Repeat("/x", 1000)))
	w.apply(t, monitorWith(ns, strings.Repeat("m", 253), "30s", ""))
	w.apply(t, monitorWith(ns, "large", "30s", caOf("large", "ca")))
	w.apply(t, monitorWith(ns, "bad-size", "30s", caOf("large", "larger")))
	w.apply(t, strings.ReplaceAll(fill(podMonitorWithTLS, ns, ""), "KEY", long))
	w.apply(t, strings.ReplaceAll(fill(probeWithTLS, ns, ""), "KEY", long))
	w.apply(t, strings.ReplaceAll(fill(scrapeConfigWithTLS, ns, ""), "KEY", long))
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"probeSelector":{},"scrapeConfigSelector":{}}}`)
	o.rejects(t, 3+tooLong(ns, "tls", long[:220]))

	w.apply(t, monitorWith(ns, "app", "17s", caOf("tls", "ca")))
	w.configured(t, ns, "scrape_interval: 17s")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"version":"v3.1.0"}}`)
	set := owner(ns, "prometheus-web")
	set.SetAPIVersion("apps/v1")
	set.SetKind("StatefulSet")
	eventually(t, "the new version is rolled out", func() error {
		s, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), set.GetName(), metav1.GetOptions{})
		if err == nil && !strings.HasSuffix(s.Spec.Template.Spec.Containers[0].Image, ":v3.1.0") {
			err = fmt.Errorf("image %s", s.Spec.Template.Spec.Containers[0].Image)
		}
		return err
	})
	w.reconciled(t, ns, "web", "True")
	files := map[string]int{}
	for i := range 3 {
		if s, err := w.kube.CoreV1().Secrets(ns).Get(t.Context(), fmt.Sprint("prometheus-web-tls-assets-", i), metav1.GetOptions{}); err == nil {
			for file, text := range s.Data {
				files[file] = len(text)
			}
		}
	}
	if files["0_"+ns+"_tls_ca"] != len(ca) || files["0_"+ns+"_large_ca"] != len(whole) {
		t.Errorf("TLS files %v", files)
	}
	if note := w.event(t, ns, "bad-key"); !strings.Contains(note.Note, "endpoints[0].tlsConfig.ca: namespace, name and key of the Secret make a file name of") {
		t.Errorf("event %q", note.Note)
	}
	o.settle(t)
}

// tooLong returns 1 if the name of a TLS file is too long for a key of a Secret.
func tooLong(namespace, name, key string) float64 {
	if len("0_"+namespace+"_"+name+"_"+key) > 253 {
		return 1
	}
	return 0
}

const podMonitorWithTLS = `
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: bad-pods, namespace: NAMESPACE}
spec:
  selector: {}
  podMetricsEndpoints: [{port: http, tlsConfig: {ca: {secret: {name: tls, key: KEY}}}}]
`

const probeWithTLS = `
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: bad-probe, namespace: NAMESPACE}
spec:
  prober: {url: "prober:9115"}
  targets: {staticConfig: {static: [a]}}
  tlsConfig: {ca: {secret: {name: tls, key: KEY}}}
`

const scrapeConfigWithTLS = `
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: bad-scrape, namespace: NAMESPACE}
spec:
  consulSDConfigs: [{server: "consul:8500", tlsConfig: {ca: {secret: {name: tls, key: KEY}}}}]
`

// A Prometheus with a valid name from which invalid names are derived.
func TestPrometheusWithALongName(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "tenant-long", "", "--controller-id=tenant-long")
	ns := w.namespace(t)
	for name, want := range map[string]string{
		strings.Repeat("p", 41): "metadata.name: results in the volume",
		strings.Repeat("p", 60): "metadata.name: results in the pod",
		"with.dot":              "metadata.name: results in the pod",
	} {
		w.apply(t, strings.ReplaceAll(fill(web, ns, "tenant-long"), "name: web", "name: "+name))
		failed := w.reconciled(t, ns, name, "False", "ReconciliationFailed")
		if text := fmt.Sprint(failed.Object["status"]); !strings.Contains(text, want) {
			t.Errorf("%s: status %s, want %q", name, text, want)
		}
		tries := 0
		for line := range strings.Lines(o.log.String()) {
			if strings.Contains(line, "/"+name+" ") && strings.Contains(line, want) {
				tries++
			}
		}
		if tries == 0 || tries > 4 { // for the events of its creation, without further retries
			t.Errorf("%s is tried %d times", name, tries)
		}
	}
	fine := strings.Repeat("p", 40)
	w.apply(t, strings.ReplaceAll(fill(web, ns, "tenant-long"), "name: web", "name: "+fine))
	w.reconciled(t, ns, fine, "True")
	o.settle(t)
}
