package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withComponents returns the kustomize output for deploy/ with components.
func (w *environment) withComponents(t *testing.T, components ...string) (file, text string) {
	t.Helper()
	dir := t.TempDir()
	base, err := filepath.Rel(dir, deploy(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	kustomization := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + base + "]\ncomponents:\n"
	for _, c := range components {
		kustomization += "- " + filepath.Join(base, "components", c) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := w.cluster.Kubectl(t.Context(), "kustomize", dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file = filepath.Join(dir, "all.yaml")
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, string(out)
}

// deploy/ with components builds, and the API server accepts the result. The components for cert-manager are only
// built, because they need its CRDs.
func TestComponents(t *testing.T) {
	w := start(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		components []string
		wants      map[string]int // texts and their number of occurrences
		built      bool           // only build, do not apply
	}{
		"kubelet": {[]string{"kubelet"}, map[string]int{
			"- --kubelet-service=kube-system/kubelet\n": 1, "- --kubelet-endpointslice\n": 1, "  name: firekeeper-operator-kubelet\n": 6, // a ClusterRole, a Role, their bindings and the references to them
		}, false},
		"http-api": {[]string{"http-api"}, map[string]int{"  name: system:auth-delegator\n": 1, "  name: firekeeper-operator-auth-delegator\n": 1, "  name: firekeeper-operator-targets\n": 3}, false},
		"high-availability": {[]string{"high-availability"}, map[string]int{
			"  replicas: 2\n": 1, "- --leader-elect\n": 1, "type: RollingUpdate\n": 1, "path: /readyz\n": 1, "\nkind: PodDisruptionBudget\n": 1,
		}, false},
		"least-privilege": {[]string{"least-privilege"}, map[string]int{
			"  - configmaps\n  - secrets\n  verbs:\n  - get\n  - create\n  - update\n  - delete\n": 1,
			"  - configmaps\n  - secrets\n  verbs:\n  - list\n  - watch\n":                         1,
		}, false},
		"webhooks": {[]string{"webhook", "webhook-conversion", "webhook-certificates"}, map[string]int{
			"name: v1beta1": 1, "- --manage-webhook-certificates=firekeeper/admission-webhook-certs": 1, "strategy: Webhook": 1,
			"\nkind: ValidatingWebhookConfiguration": 2, "\nkind: MutatingWebhookConfiguration": 1,
		}, false},
		"webhooks for all kinds": {[]string{"webhook", "webhook-validate-all", "webhook-certificates"}, map[string]int{
			"\nkind: ValidatingWebhookConfiguration": 3, "path: /admission-objects/validate\n": 1, "failurePolicy: Ignore\n": 1, "- firekeeper-validate-all\n": 1,
		}, false},
		"central-discovery": {[]string{"central-discovery", "network-policy"}, map[string]int{
			"  name: firekeeper-discovery\n": 13, "  replicas: 2\n": 1, "- --leader-elect\n": 1, "\nkind: NetworkPolicy\n": 4,
			"- --central-discovery=opt-in\n": 1, "- --central-discovery-address=firekeeper-discovery.firekeeper.svc:8443\n": 1,
			"- --central-discovery-ca-file=/discovery-ca/ca.crt\n": 1, "mountPath: /discovery-ca\n": 1, "name: firekeeper-discovery-ca\n": 1,
		}, false},
		"cert-manager": {[]string{"webhook", "webhook-validate-all", "webhook-conversion", "webhook-cert-manager"}, map[string]int{
			"cert-manager.io/inject-ca-from: firekeeper/admission-webhook\n": 5, // the CRD and four webhook configurations
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			file, text := w.withComponents(t, tc.components...)
			for what, n := range tc.wants {
				if got := strings.Count(text, what); got != n {
					t.Errorf("%d times %q, want %d", got, what, n)
				}
			}
			if tc.built {
				return
			}
			if out, err := w.cluster.Kubectl(t.Context(), "apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", file); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
