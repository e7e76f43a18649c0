package lint

import (
	"strings"
	"testing"
)

const (
	anyPrometheus = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: mon}\nspec:\n  serviceAccountName: p\n"
	webMonitor    = "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: app}\nspec:\n  selector: {}\n  endpoints:\n  - port: http\n    interval: 10s\n    scrapeTimeout: 20s\n"
)

// lines returns the text output of lint for a manifest, with a fixed file name.
func lines(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	name := file(t, text)
	if err := run([]string{name}, kinds()).Write(&out, "text"); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), name, "in.yaml")
}

// TestUnknownNamespace: if a Namespace is not among the manifests, its labels are unknown. Its
// objects are checked as far as possible.
func TestUnknownNamespace(t *testing.T) {
	const selector = "  serviceMonitorSelector: {}\n  serviceMonitorNamespaceSelector: {matchLabels: {monitoring: enabled}}\n"
	const tooLong = "spec.endpoints[0].scrapeTimeout: 20s is longer than the interval 10s"
	t.Run("one Prometheus", func(t *testing.T) {
		got := lines(t, anyPrometheus+selector+webMonitor)
		for _, want := range []string{
			"note: ServiceMonitor app/web: metadata.namespace: cannot tell whether it is selected by Prometheus mon/k8s: namespace app is not among the manifests, so its labels are not known; " +
				"spec.serviceMonitorNamespaceSelector (line 7) requires monitoring=enabled; add the Namespace to the manifests (kubectl get namespace app -o yaml) [not-selected]",
			tooLong, "1 error, 0 warnings, 1 note",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	})
	t.Run("its name is enough", func(t *testing.T) {
		got := lines(t, anyPrometheus+strings.Replace(selector, "monitoring: enabled", "kubernetes.io/metadata.name: app", 1)+webMonitor)
		if !strings.Contains(got, "1 error, 0 warnings, 0 notes") {
			t.Error(got)
		}
	})
	t.Run("several might select it", func(t *testing.T) {
		other := strings.Replace(anyPrometheus+selector, "name: k8s", "name: other", 1)
		if got := lines(t, anyPrometheus+selector+"---\n"+other+webMonitor); strings.Contains(got, tooLong) || !strings.Contains(got, "0 errors, 0 warnings, 1 note") {
			t.Error(got)
		}
	})
	t.Run("given", func(t *testing.T) {
		const given = "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: app\n  labels:\n    monitoring: \"true\"\n"
		got := lines(t, anyPrometheus+selector+webMonitor+given)
		if want := `requires monitoring=enabled, but namespace app (line 24) has monitoring="true" [not-selected]`; !strings.Contains(got, want) || strings.Contains(got, tooLong) {
			t.Errorf("no %q in\n%s", want, got)
		}
	})
}

// TestFaultyPrometheus: a faulty field of a Prometheus causes no findings about other objects, and its
// other fields still apply.
func TestFaultyPrometheus(t *testing.T) {
	text := anyPrometheus + "  serviceMonitorSelector: {}\n  serviceMonitorNamespaceSelector: {}\n  scrapeClasses: [{name: mtls}]\n  retentionSize: 20Gi\n  externalURL: http://a\n" + webMonitor
	got := lines(t, strings.Replace(text, "spec:\n  selector", "spec:\n  scrapeClass: mtls\n  selector", 1))
	for _, want := range []string{"in.yaml:9: error: Prometheus mon/k8s: spec.retentionSize", "in.yaml:10: error: Prometheus mon/k8s: spec.externalURL", "scrapeTimeout: 20s is longer", "3 errors, 0 warnings, 0 notes"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestEchoes: consequences of a typo are not reported, other errors of the object are.
func TestEchoes(t *testing.T) {
	for name, tc := range map[string]struct{ spec, want string }{
		"a required field that is misspelled": {"spec: {selector: {}, endpoint: []}", "1 error,"},
		"a field left out":                    {"spec: {selector: {}, endpoints: [{port: a, interval: 1 m, scrapeTimeout: 30s}]}", "1 error,"},
		"in the same object":                  {"spec: {selector: {}, endpoints: [{port: a, intervall: 1m, scrapeTimeout: 45s}, {port: b, scrapeTimeout: 3h}]}", "2 errors,"},
		"inside of a typo":                    {"spec: {selector: {}, endpoint: [{prt: a}]}", "2 errors,"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(t, "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: app}\n"+tc.spec+"\n"); !strings.Contains(got, tc.want) {
				t.Errorf("not %q:\n%s", tc.want, got)
			}
		})
	}
}
