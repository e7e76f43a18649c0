package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// everything enables each part of the chart.
const everything = `
replicas: 2
extraArgs: ["--cluster-domain=cluster.local"]
rbac: {developers: [developers, "system:masters"]}
featureGates: {StatusForConfigurationResources: true}
monitoring: {serviceMonitor: true, rules: true, dashboard: true, labels: {team: platform}}
networkPolicy: {enabled: true, from: [{namespaceSelector: {}}]}
webhook: {enabled: true, validateAll: true, conversion: true, extraArgs: [--name-validation-scheme=utf8], port: 9443, hostNetwork: true}
kubelet: {enabled: true}
imagePullSecrets: [{name: pull}]
priorityClassName: system-cluster-critical
tolerations: [{operator: Exists}]
podLabels: {team: platform}
serviceAccount: {annotations: {a: b}}
global: {imageRegistry: registry.example/}
image: {tag: v1, digests: {operator: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}}
commonLabels: {cost-center: a}
denyNamespaces: [c]
instanceNamespaces: {prometheus: [a], thanosRuler: [a, b]}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]
podSecurityContext: {runAsUser: null, runAsGroup: null}
containerSecurityContext: {readOnlyRootFilesystem: false}
env: [{name: HTTPS_PROXY, value: "http://proxy:3128"}]
extraVolumes: [{name: ca, configMap: {name: ca}}]
extraVolumeMounts: [{name: ca, mountPath: /etc/ssl/certs}]
dnsPolicy: ClusterFirst
dnsConfig: {options: [{name: ndots, value: "2"}]}
terminationGracePeriodSeconds: 20
livenessProbe: {timeoutSeconds: 5}
service: {annotations: {example.com/a: b}}
hostNetwork: true
`

func TestChartIsLinted(t *testing.T) {
	for _, values := range []string{"{}", everything, "namespaces: [a, b]", "rbac: {leastPrivilege: true, watchSecretsIn: [a]}"} {
		given, err := chartutil.ReadValues([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lint.All(chartFolder, given, "firekeeper", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", values, m)
			}
		}
	}
}

// The chart creates the same pod, Service and permissions as deploy.
func TestChartIsDeploy(t *testing.T) {
	texts := released(t, "{}")
	chart := objects(t, manifestsOf(texts))
	var plain string
	for _, file := range []string{"operator.yaml", "rbac.yaml"} {
		text, err := os.ReadFile("../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		plain += "\n---\n" + string(text)
	}
	deploy := objects(t, plain)
	path := func(object map[string]any, fields ...string) any {
		var at any = object
		for _, f := range fields {
			at = at.(map[string]any)[f]
		}
		return at
	}
	if diff := cmp.Diff(deploy["ClusterRole firekeeper-operator"]["rules"], chart["ClusterRole firekeeper"]["rules"]); diff != "" {
		t.Errorf("rules:\n%s", diff)
	}
	if diff := cmp.Diff(path(deploy["Service prometheus-operator"], "spec", "ports"), path(chart["Service firekeeper"], "spec", "ports")); diff != "" {
		t.Errorf("Service:\n%s", diff)
	}
	// Settings that have a value in the chart may differ.
	pod := func(object map[string]any) any {
		spec := path(object, "spec", "template", "spec").(map[string]any)
		delete(spec, "serviceAccountName")
		container := spec["containers"].([]any)[0].(map[string]any)
		container["args"] = slices.DeleteFunc(container["args"].([]any), func(a any) bool { return strings.HasPrefix(a.(string), "--log-") })
		return spec
	}
	if diff := cmp.Diff(pod(deploy["Deployment prometheus-operator"]), pod(chart["Deployment firekeeper"])); diff != "" {
		t.Errorf("pod:\n%s", diff)
	}
}

// Each namespace gets a Role, and only the CRDs and the user roles are cluster-wide.
func TestChartOfNamespaces(t *testing.T) {
	texts := released(t, "{namespaces: [a, b], rbac: {userRoles: false}}")
	var got []string
	for name := range objects(t, texts["rbac.yaml"]) {
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"Role firekeeper", "RoleBinding firekeeper", "ServiceAccount firekeeper"}, got); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"namespace: a\n", "namespace: b\n"} {
		if strings.Count(texts["rbac.yaml"], want) != 2 {
			t.Errorf("not a Role and a RoleBinding in %s", want)
		}
	}
	if !strings.Contains(texts["rbac.yaml"], "  - namespaces\n  verbs:\n  - get\n-") { // the only access to its namespace that a Role can grant
		t.Errorf("the Roles may not get their namespaces:\n%s", texts["rbac.yaml"])
	}
	if !strings.Contains(texts["operator.yaml"], "- --namespaces=a,b\n") {
		t.Error("the operator does not get --namespaces")
	}
}

// With least privilege, the permissions are the same, except that Secrets and ConfigMaps can be listed and
// watched only in some namespaces.
func TestChartOfLeastPrivilege(t *testing.T) {
	for values, name := range map[string]string{
		"rbac: {leastPrivilege: true, watchSecretsIn: [a, b]}":                    "ClusterRole firekeeper",
		"{namespaces: [c], rbac: {leastPrivilege: true, watchSecretsIn: [a, b]}}": "Role firekeeper",
	} {
		text := released(t, values)["rbac.yaml"]
		got := objects(t, text)
		least := fmt.Sprint(got[name]["rules"])
		if !strings.Contains(least, "resources:[configmaps secrets] verbs:[get create update delete]") || !strings.Contains(least, "resources:[statefulsets] verbs:[get list watch") {
			t.Errorf("%s: rules %s", values, least)
		}
		if watch := fmt.Sprint(got["Role firekeeper-watch"]["rules"]); watch != "[map[apiGroups:[] resources:[configmaps secrets] verbs:[list watch]]]" {
			t.Errorf("%s: rules %s", values, watch)
		}
		for _, want := range []string{"namespace: a\n", "namespace: b\n"} {
			if strings.Count(text, want) != 2 {
				t.Errorf("%s: not a Role and a RoleBinding in %s", values, want)
			}
		}
	}
}

// Several replicas elect a leader with a Lease, which is named in their Role.
func TestChartOfReplicas(t *testing.T) {
	texts := released(t, "{replicas: 2}")
	for file, wants := range map[string][]string{
		"operator.yaml": {
			"  replicas: 2\n", "type: RollingUpdate\n", "- --leader-elect\n", "- --leader-elect-lease-name=firekeeper\n", "path: /readyz\n",
			"podAntiAffinity:\n", "\nkind: PodDisruptionBudget\n",
		},
		"rbac.yaml": {"  resources: [leases]\n  resourceNames: [firekeeper]\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(texts[file], want) {
				t.Errorf("%s has no %q", file, want)
			}
		}
	}
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	for name, object := range objects(t, texts["operator.yaml"]) {
		if !strings.HasPrefix(name, "Deployment ") {
			continue
		}
		args, _ := json.Marshal(object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["args"])
		var flags []string
		if err := json.Unmarshal(args, &flags); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Parse(flags); err != nil || o.Validate() != nil {
			t.Errorf("the operator does not take %q: %v, %v", flags, err, o.Validate())
		}
	}
}

// Misspelled values and values of the wrong type are rejected before anything is installed.
func TestChartRefusesBadValues(t *testing.T) {
	c, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	for values, want := range map[string]string{
		"replicaCount: 2":             "replicaCount",
		"image: {repository: x}":      "repository",
		"extraArgs: [log-level=none]": "extraArgs",
		"logLevel: verbose":           "logLevel",
		"namespaces: default":         "namespaces",
		"namespaces: [a, a]":          "namespaces",
		"crds: {apply: maybe}":        "apply",
		"replicas: 0":                 "replicas",
		"rbac: {leastPrivilege: a}":   "leastPrivilege",
		"featureGates: {A: 1}":        "featureGates",
		"webhook: {certificates: me}": "certificates",
		"webhook: {failurePolicy: x}": "failurePolicy",
		"webhook: {replicas: 0}":      "replicas",
		"webhook: {port: 70000}":      "port",
		"tls: {enabled: true}":        "enabled",
		"kubelet: {service: a/b}":     "service",
	} {
		given, err := chartutil.ReadValues([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		_, err = chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "x", Namespace: "x"}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s in it", values, err, want)
		}
	}
}

// The operator accepts the command line of a chart with each value that becomes a flag, also if extraArgs repeats one
// that the chart sets by itself.
func TestChartFlags(t *testing.T) {
	for _, values := range []string{
		everything,
		"{namespaces: [a, b], tls: {secretName: certificate}}",
		"extraArgs: [--config-reloader-cpu-limit=100m, --config-reloader-memory-limit=100Mi]",
	} {
		var o Options
		app := kingpin.New("operator", "")
		o.Bind(app)
		for name, object := range objects(t, released(t, values)["operator.yaml"]) {
			if !strings.HasPrefix(name, "Deployment ") {
				continue
			}
			var flags []string
			for _, flag := range below(object, "spec", "template", "spec", "containers").([]any)[0].(map[string]any)["args"].([]any) {
				flags = append(flags, flag.(string))
			}
			if _, err := app.Parse(arguments(app, flags)); err != nil || o.Validate() != nil {
				t.Errorf("%s: the operator does not accept %q: %v, %v", values, flags, err, o.Validate())
			}
		}
	}
}

// A VerticalPodAutoscaler rejects an update mode that is not a string.
func TestChartAutoscaler(t *testing.T) {
	for _, mode := range []string{"Off", "Initial", "InPlaceOrRecreate"} {
		texts := released(t, "verticalPodAutoscaler: {enabled: true, updateMode: \""+mode+"\"}")
		got := below(objects(t, texts["operator.yaml"])["VerticalPodAutoscaler firekeeper"], "spec", "updatePolicy", "updateMode")
		if got != mode {
			t.Errorf("the update mode is %v, want %s", got, mode)
		}
	}
}

// The schema lists exactly the existing values.
func TestChartSchema(t *testing.T) {
	c, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(c.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	var same func(path string, values, schema map[string]any)
	same = func(path string, values, schema map[string]any) {
		known, ok := schema["properties"].(map[string]any)
		if !ok {
			return // any value is allowed
		}
		for name := range known {
			if _, ok := values[name]; !ok && path+name != ".global" {
				t.Errorf("values.yaml has no %s", strings.TrimPrefix(path+name, "."))
			}
		}
		for name, value := range values {
			of, ok := known[name].(map[string]any)
			if !ok {
				t.Errorf("the schema has no %s", strings.TrimPrefix(path+name, "."))
				continue
			}
			if inner, ok := value.(map[string]any); ok {
				same(path+name+".", inner, of)
			}
		}
	}
	same(".", c.Values, schema)
}
