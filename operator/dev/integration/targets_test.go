package integration

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// beforeChange is a cluster in which a Prometheus scrapes one of two Services.
const beforeChange = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: prometheus, namespace: NAMESPACE}
rules:
- {apiGroups: [""], resources: [services, pods], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: prometheus, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: prometheus}
subjects: [{kind: ServiceAccount, name: default, namespace: NAMESPACE}]
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: nobody}}
spec: {shards: 2, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}, scrapeConfigSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: NAMESPACE}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE, labels: {app: web}}
spec: {clusterIP: None, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: NAMESPACE, labels: {app: db}}
spec: {clusterIP: None, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: NAMESPACE, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 80}]
endpoints: [{addresses: [10.0.0.1]}, {addresses: [10.0.0.2]}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: NAMESPACE, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
ports: [{name: http, port: 80}]
endpoints: [{addresses: [10.0.0.3]}]
`

// changes lists manifests to apply to it, by name.
var changes = map[string]string{
	"a monitor": `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: NAMESPACE}
spec:
  selector: {matchExpressions: [{key: app, operator: In, values: [web, db]}]}
  endpoints:
  - {port: http, relabelings: [{sourceLabels: [__address__], regex: "10.0.0.2:.*", action: drop}]}
  - {targetPort: 81, scheme: HTTPS}
`,
	"a Service and its endpoints": `
apiVersion: v1
kind: Service
metadata: {name: db, namespace: NAMESPACE, labels: {app: web}}
spec: {clusterIP: None, ports: [{name: http, port: 80}, {name: other, port: 81}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: NAMESPACE, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
ports: [{name: http, port: 80}, {name: other, port: 81}]
endpoints: [{addresses: [10.0.0.3]}, {addresses: [10.0.0.4], conditions: {ready: false}}]
`,
	"a workload": `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: nobody}}
spec: {shards: 3, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}, scrapeConfigSelector: {}, enforcedNamespaceLabel: tenant}
`,
	"new objects": `
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: more, namespace: NAMESPACE}
spec: {staticConfigs: [{targets: ["more.example:1", "other.example:1"]}], kubernetesSDConfigs: [{role: Service, namespaces: {names: [NAMESPACE]}}]}
`,
}

// A preview of manifests on top of a cluster has the same targets as the cluster after they are applied.
func TestTargetsOfManifests(t *testing.T) {
	w := start(t)
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			ns := w.namespace(t)
			w.apply(t, strings.ReplaceAll(beforeChange, "NAMESPACE", ns))
			change := strings.ReplaceAll(change, "NAMESPACE", ns)
			file := filepath.Join(t.TempDir(), "new.yaml")
			if err := os.WriteFile(file, []byte(change), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, format := range []string{"wide", "json"} {
				args := []string{"prometheus", ns + "/main", "--format=" + format, "--show-labels=both", "--controller-id=nobody"}
				before := w.targets(t, args...)
				said := w.targets(t, append(args, "-f", file)...)
				if again := w.targets(t, args...); again != before || before == said {
					t.Errorf("before\n%s\nwith the manifests\n%s\nthen\n%s", before, said, again)
				}
				w.apply(t, change)
				if got := w.targets(t, args...); got != said {
					t.Errorf("%s, with the manifests\n%s\nafter applying\n%s", format, said, got)
				}
				w.apply(t, strings.ReplaceAll(beforeChange, "NAMESPACE", ns))
				if name == "new objects" {
					break // applying the old manifests does not delete the new objects
				}
			}
		})
	}
}

// targets runs the command and returns its output.
func (w *environment) targets(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.commands, append([]string{"targets"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() == 2 {
			t.Fatalf("%v\n%s%s", err, &errs, &out)
		}
	}
	return out.String()
}
