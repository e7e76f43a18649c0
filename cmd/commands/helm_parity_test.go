package commands

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// inDeploy maps names of objects in the release "firekeeper" to their names in deploy, if they differ.
var inDeploy = map[string]map[string]string{
	"":            {"firekeeper": "prometheus-operator", "firekeeper-admission-webhook": "prometheus-operator-admission-webhook"},
	"ClusterRole": {"firekeeper": "firekeeper-operator", "firekeeper-kubelet": "firekeeper-operator-kubelet", "firekeeper-auth-delegator": "firekeeper-operator-auth-delegator", "firekeeper-targets": "firekeeper-operator-targets", "firekeeper-admission-webhook": "firekeeper-webhook-certificates"},
	"Role":        {"firekeeper-leader": "firekeeper-operator-leader", "firekeeper-kubelet": "firekeeper-operator-kubelet", "firekeeper-admission-webhook": "firekeeper-webhook-certificates"},
	"Issuer":      {"firekeeper-admission-webhook": "admission-webhook"},
	"ConfigMap":   {},
}

// With the values that correspond to a component, the chart creates exactly the objects of deploy with that
// component.
func TestChartIsKustomize(t *testing.T) {
	c := clustertest.Shared(t, cluster.Options{})
	for name, tc := range map[string]struct {
		components []string
		values     string
	}{
		"base":              {nil, ""},
		"high-availability": {[]string{"high-availability"}, "replicas: 2"},
		"HTTP API":          {[]string{"http-api"}, "rbac: {httpAPI: true, userRoles: false}"},
		"kubelet":           {[]string{"kubelet"}, "kubelet: {enabled: true}"},
		"least privilege":   {[]string{"least-privilege"}, "rbac: {leastPrivilege: true}"},
		"monitoring":        {[]string{"monitoring"}, "monitoring: {serviceMonitor: true, rules: true, dashboard: true}"},
		"network policies":  {[]string{"network-policy", "webhook", "central-discovery"}, "{networkPolicy: {enabled: true}, webhook: {enabled: true, certificates: secret, caBundle: AAAA}, centralDiscovery: {enabled: true}}"},
		"central discovery": {[]string{"central-discovery"}, "{rbac: {userRoles: false}, centralDiscovery: {enabled: true}}"},
		"user roles":        {[]string{"user-roles"}, "rbac: {userRoles: true}"},
		"webhook":           {[]string{"webhook", "webhook-certificates"}, "webhook: {enabled: true}"},
		"validate all":      {[]string{"webhook", "webhook-validate-all", "webhook-certificates"}, "webhook: {enabled: true, validateAll: true}"},
		"cert-manager":      {[]string{"webhook", "webhook-cert-manager"}, "webhook: {enabled: true, certificates: cert-manager}"},
	} {
		t.Run(name, func(t *testing.T) {
			values := "{rbac: {userRoles: false}}"
			if tc.values != "" {
				values = tc.values
			}
			chart := compared(objects(t, manifestsOf(released(t, values))))
			if !slices.Contains(tc.components, "user-roles") { // enabled in the chart by default
				maps.DeleteFunc(chart, func(id string, _ map[string]any) bool {
					return strings.HasSuffix(id, "-view") || strings.HasSuffix(id, "-edit") || strings.HasSuffix(id, "-admin") || strings.HasSuffix(id, "-developer")
				})
			}
			deploy := compared(objects(t, string(deployed(t, c, tc.components...))))
			// The chart does not isolate the namespace, which may be shared, and has Roles where users of
			// deploy bind a ClusterRole manually. Helm creates the namespace and the CRDs differently.
			maps.DeleteFunc(deploy, func(id string, _ map[string]any) bool {
				return id == "NetworkPolicy default-deny" || id == "ClusterRole firekeeper-operator-watch" || strings.HasPrefix(id, "Namespace ") || strings.HasPrefix(id, "CustomResourceDefinition ")
			})
			quantities := cmp.FilterPath(func(p cmp.Path) bool { return strings.Contains(p.GoString(), `["resources"]`) },
				cmp.FilterValues(func(a, b string) bool { return isQuantity(a) && isQuantity(b) }, cmp.Comparer(func(a, b string) bool {
					return resource.MustParse(a).Equal(resource.MustParse(b))
				})))
			if diff := cmp.Diff(deploy, chart, quantities, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("deploy (-) and the chart (+) differ:\n%s", diff)
			}
		})
	}
}

func isQuantity(text string) bool { _, err := resource.ParseQuantity(text); return err == nil }

// compared returns objects by kind and their name in deploy, without additions of Helm and without hooks.
func compared(objects map[string]map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, object := range objects {
		kind, meta := object["kind"].(string), object["metadata"].(map[string]any)
		if annotations, _ := meta["annotations"].(map[string]any); annotations["helm.sh/hook"] != nil {
			continue
		}
		object = stripped(renamed(kind, object)).(map[string]any)
		meta = object["metadata"].(map[string]any)
		delete(meta, "labels") // stripped keeps the labels of selectors
		out[kind+" "+meta["name"].(string)] = object
	}
	return out
}

// renamed replaces the names derived from the release with the names in deploy.
func renamed(kind string, object map[string]any) map[string]any {
	kind = strings.TrimSuffix(kind, "Binding")
	if kind == "Certificate" {
		kind = "Issuer"
	}
	names, special := inDeploy[kind]
	if !special {
		names = inDeploy[""]
	}
	rename := func(at map[string]any, names map[string]string) {
		if name, ok := at["name"].(string); ok && names[name] != "" {
			at["name"] = names[name]
		}
	}
	rename(object["metadata"].(map[string]any), names)
	if spec, ok := object["spec"].(map[string]any); ok && kind == "Issuer" {
		if issuer, ok := spec["issuerRef"].(map[string]any); ok {
			rename(issuer, names)
		}
	}
	if role, ok := object["roleRef"].(map[string]any); ok {
		rename(role, names)
		for _, subject := range object["subjects"].([]any) {
			rename(subject.(map[string]any), inDeploy[""])
		}
	}
	return object
}

// texts replaces other names that differ.
var texts = strings.NewReplacer(
	"firekeeper/firekeeper-admission-webhook-certs", "firekeeper/admission-webhook-certs",
	"firekeeper/firekeeper-admission-webhook", "firekeeper/admission-webhook", // of the Certificate
	"firekeeper-admission-webhook-certs", "admission-webhook-certs",
	"firekeeper-admission-webhook", "prometheus-operator-admission-webhook",
)

// stripped removes intended differences: labels of Helm, and flags for which the chart has values.
func stripped(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, label := range []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"} {
			delete(value, label)
		}
		if name, ok := value["serviceAccountName"]; ok && name == "firekeeper" {
			value["serviceAccountName"] = "prometheus-operator"
		}
		delete(value, "objectSelector") // of webhooks: the chart contains a rule and cannot wait for the webhook
		delete(value, "caBundle")       // from the values
		for key, inner := range value {
			value[key] = stripped(inner)
		}
		return value
	case []any:
		value = slices.DeleteFunc(value, func(item any) bool {
			text, _ := item.(string)
			return strings.HasPrefix(text, "--log-") || strings.HasPrefix(text, "--leader-elect-lease-name=")
		})
		for i, item := range value {
			value[i] = stripped(item)
			if item == "firekeeper" {
				value[i] = "prometheus-operator" // name of the Lease in a Role
			}
		}
		return value
	case string:
		return texts.Replace(value)
	}
	return value
}

// The Job for the CRDs has the arguments of the component webhook-conversion.
func TestChartAppliesConversion(t *testing.T) {
	for values, want := range map[string][]any{
		"webhook: {enabled: true}":    {"crds", "apply"},
		"webhook: {conversion: true}": {"crds", "apply"},
		"webhook: {enabled: true, conversion: true}": {
			"crds", "apply", "--conversion-webhook=firekeeper/firekeeper-admission-webhook",
		},
		"webhook: {enabled: true, conversion: true, certificates: cert-manager}": {
			"crds", "apply", "--conversion-webhook=firekeeper/firekeeper-admission-webhook",
			"--conversion-inject-ca-from=firekeeper/firekeeper-admission-webhook",
		},
	} {
		job := objects(t, released(t, values)["crds.yaml"])["Job firekeeper-crds"]
		spec := job["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		if diff := cmp.Diff(want, spec["containers"].([]any)[0].(map[string]any)["args"]); diff != "" {
			t.Errorf("%s:\n%s", values, diff)
		}
	}
}
