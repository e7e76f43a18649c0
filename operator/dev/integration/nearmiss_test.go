package integration

import (
	"fmt"
	"strings"
	"testing"
)

// near is a Prometheus whose ServiceAccount may not list pods, with monitors that have no targets.
const near = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: near, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: near, namespace: NAMESPACE}
rules: [{apiGroups: [""], resources: [services, endpoints], verbs: [list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: near, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: near}
subjects: [{kind: ServiceAccount, name: near, namespace: NAMESPACE}]
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: near, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: near}}
spec: {serviceAccountName: near, serviceMonitorSelector: {}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE, labels: {run: web}}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: NAMESPACE, labels: {run: api}}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: NAMESPACE, labels: {app: web}}
spec: {containers: [{name: server, image: "web:v1", ports: [{name: http, containerPort: 80}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: labels, namespace: NAMESPACE}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: port, namespace: NAMESPACE}
spec: {selector: {matchLabels: {run: api}}, endpoints: [{port: "80"}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: pending, namespace: NAMESPACE}
spec: {selector: {matchLabels: {run: api}}, endpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: elsewhere, namespace: NAMESPACE}
spec: {selector: {matchLabels: {near: OTHER}}, endpoints: [{port: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: OTHER, labels: {near: OTHER}}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
`

// nearReaders are two users: one may read everything and check permissions, the other may not list pods, nor read
// anything outside of the namespace.
const nearReaders = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: integration-near-reader}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-near-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: integration-near-reader}
subjects: [{kind: User, name: integration-near-reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: near-few, namespace: NAMESPACE}
rules:
- {apiGroups: [monitoring.coreos.com], resources: [servicemonitors, prometheuses, prometheusagents], verbs: [get, list]}
- {apiGroups: [""], resources: [namespaces], verbs: [get]}
- {apiGroups: [""], resources: [services, endpoints], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: near-few, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: near-few}
subjects: [{kind: User, name: integration-near-few}]
`

// Near misses are found in a cluster, limited by the permissions of the caller.
func TestNearMisses(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns, other := w.namespace(t), w.namespace(t)
	w.apply(t, strings.ReplaceAll(fill(near, ns, ""), "OTHER", other))
	w.apply(t, fill(nearReaders, ns, ""))
	const reader, few = "integration-near-reader", "integration-near-few"
	says := func(command, user, monitor string, want ...string) {
		t.Helper()
		eventually(t, command+" "+monitor+" as "+user, func() error {
			text, code := w.command(t, command, user, "servicemonitor", ns+"/"+monitor, "--controller-id=near", "--prometheus-instance-namespaces="+ns)
			for _, words := range want {
				if !strings.Contains(text, words) {
					return fmt.Errorf("exit %d, no %q in\n%s", code, words, text)
				}
			}
			if strings.Contains(text, "deprecated") {
				return fmt.Errorf("a warning of the API server:\n%s", text)
			}
			if user == few && strings.Contains(text, "there is no ") {
				return fmt.Errorf("something is said not to exist:\n%s", text)
			}
			return nil
		})
	}
	account := "ServiceAccount " + ns + "/near may not list and watch pods in namespace " + ns + ", which ServiceMonitor " + ns + "/"
	remedy := " needs; add the verbs list and watch for pods to Role " + ns + "/near"
	labels := "spec.selector.matchLabels[\"app\"]: no Service in namespace " + ns + " has label app=web; the pods of Service " + ns + "/web have"
	asked := "whether ServiceAccount " + ns + "/near may list and watch what it must: you may not create subjectaccessreviews.authorization.k8s.io; ask for the verb create"
	for _, command := range []string{"explain", "targets"} {
		says(command, reader, "labels", labels, account+"labels"+remedy)
		says(command, reader, "port", `"80" is the name of a port of a Service; Service `+ns+`/api has http (80): did you mean port: http`)
		says(command, reader, "elsewhere", "spec.namespaceSelector: looks in namespace "+ns+" only, where no Service has label near="+other+
			"; Service "+other+"/web has: set spec.namespaceSelector.matchNames: ["+other+"]")
		says(command, reader, "pending", "Service "+ns+"/api has no endpoints: the pods of Pod "+ns+"/web do not run: 1 Pending")
	}
	says("explain", few, "labels", "no Service in namespace "+ns+" has label app=web; the pods of Service "+ns+"/web have", asked, "you may not list pods in namespace "+ns+"; ask for the verb list",
		"whether other namespaces have what it looks for: you may not list services in all namespaces; ask for the verb list")
	says("explain", few, "port", "did you mean port: http", asked)
	says("explain", few, "pending", "accepted", "unknown   you may not list pods in namespace "+ns+"; ask for the verb list")
}
