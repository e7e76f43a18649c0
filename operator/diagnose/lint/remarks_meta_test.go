package lint

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constantsOfDiscovery returns the labels that the source code of Prometheus' discovery builds from a
// constant, without their common prefix.
func constantsOfDiscovery(t *testing.T) (out []string) {
	t.Helper()
	pkg, err := build.Import("github.com/prometheus/prometheus/discovery/kubernetes", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(pkg.Dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", pkg.Dir, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sum, is := n.(*ast.BinaryExpr)
			if !is || strings.HasSuffix(name, "_test.go") {
				return true
			}
			prefix, is1 := sum.X.(*ast.Ident)
			rest, is2 := sum.Y.(*ast.BasicLit)
			if is1 && is2 && prefix.Name == "metaLabelPrefix" {
				label, err := strconv.Unquote(rest.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, label)
			}
			return true
		})
	}
	return out
}

// TestMetaLabelsAreThoseOfPrometheus: the table has exactly the labels of Prometheus' discovery, except
// for *_name labels, whose names are not constants there.
func TestMetaLabelsAreThoseOfPrometheus(t *testing.T) {
	real := constantsOfDiscovery(t)
	if len(real) < 40 {
		t.Fatalf("only %d constants: %v", len(real), real)
	}
	for _, label := range real {
		if strings.HasSuffix(label, "_") {
			label += "x"
		}
		if metaObject(label) == "" {
			t.Errorf("the table has no %s", label)
		}
	}
	for object, names := range metaLabels {
		for _, name := range names {
			if name != object+"_name" && !slices.Contains(real, name) {
				t.Errorf("Prometheus has no %s", name)
			}
		}
	}
}

func TestMetaRemarks(t *testing.T) {
	endpoints := func(more, label string) string {
		return "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: app}\nspec:\n  selector: {}\n" + more +
			"  endpoints:\n  - {port: a, relabelings: [{targetLabel: x, sourceLabels: [job, " + label + "]}]}\n"
	}
	pod := func(label string) string {
		return "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: web, namespace: app}\nspec:\n  selector: {}\n" +
			"  podMetricsEndpoints:\n  - {port: a, relabelings: [{targetLabel: x, sourceLabels: [job, " + label + "]}]}\n"
	}
	sc := func(role, label string) string {
		return "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec:\n" +
			"  kubernetesSDConfigs: [{role: " + role + "}]\n  relabelings: [{targetLabel: x, sourceLabels: [" + label + "]}]\n"
	}
	const attached = "  attachMetadata: {node: true}\n"
	for title, tc := range map[string]struct{ object, want string }{
		"a character":               {endpoints("", "__meta_kubernetes_pod_label_app.kubernetes.io/name"), "spec.endpoints[0].relabelings[0].sourceLabels[1]: no target has a label of this name: discovery writes every character but letters, digits and _ as _; write __meta_kubernetes_pod_label_app_kubernetes_io_name"},
		"a letter":                  {endpoints("", "__meta_kubernets_pod_name"), `no discovery sets this label, did you mean "__meta_kubernetes_pod_name"?`},
		"nothing alike":             {endpoints("", "__meta_kubernetes_weather"), "no discovery sets this label, so its value is always empty"},
		"a label":                   {endpoints("", "__meta_kubernetes_pod_label_app"), ""},
		"an annotation":             {endpoints("", "__meta_kubernetes_service_annotationpresent_a"), ""},
		"a name":                    {endpoints("", "__meta_kubernetes_pod_node_name"), ""},
		"the other role":            {endpoints("", "__meta_kubernetes_endpointslice_port_name"), "targets of this job have no labels of the EndpointSlice, because their role is endpoints; there is __meta_kubernetes_endpoint_port_name"},
		"its role":                  {endpoints("  serviceDiscoveryRole: EndpointSlice\n", "__meta_kubernetes_endpointslice_port_name"), ""},
		"a Service of a PodMonitor": {pod("__meta_kubernetes_service_name"), "targets of this job have no labels of the Service, because their role is pod"},
		"a container":               {pod("__meta_kubernetes_pod_container_port_name"), ""},
		"a node":                    {endpoints("", "__meta_kubernetes_node_label_zone"), "targets have labels of their node only with spec.attachMetadata.node: true"},
		"an attached node":          {endpoints(attached, "__meta_kubernetes_node_label_zone"), ""},
		"a namespace":               {endpoints("", "__meta_kubernetes_namespace"), ""},
		"labels of namespaces":      {endpoints("", "__meta_kubernetes_namespace_label_team"), "labels and annotations of namespaces are not known to Prometheus here"},
		"a name without its end":    {endpoints("", "__meta_kubernetes_pod_node"), `no discovery sets this label, did you mean "__meta_kubernetes_pod_node_name"?`},
		"a role that is wrong":      {sc("pods", "__meta_kubernetes_pod_name"), `1 error, 0 warnings, 0 notes`},
		"a role":                    {sc("Service", "__meta_kubernetes_pod_name"), "targets of this job have no labels of the pod, because their role is service"},
		"another discovery":         {endpoints("", "__meta_consul_node"), ""},
	} {
		t.Run(title, func(t *testing.T) {
			got := lines(t, selectsAll+tc.object)
			if tc.want == "" && !strings.Contains(got, "0 errors, 0 warnings, 0 notes") || !strings.Contains(got, tc.want) {
				t.Errorf("want %q, got\n%s", tc.want, got)
			}
		})
	}
}
