package adversary

// installed contains the namespaces, the users and the workloads that select everything.
//
// The hostile user may also write workloads, which the ClusterRole edit alone does not allow.
const installed = `
apiVersion: v1
kind: Namespace
metadata: {name: monitoring}
---
apiVersion: v1
kind: Namespace
metadata: {name: good}
---
apiVersion: v1
kind: Namespace
metadata: {name: hostile}
---
apiVersion: v1
kind: Namespace
metadata: {name: private}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: mallory, namespace: hostile}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: User, name: mallory, apiGroup: rbac.authorization.k8s.io}, {kind: ServiceAccount, name: mallory, namespace: hostile}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: mallory-workloads, namespace: hostile}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: firekeeper-admin}
subjects: [{kind: User, name: mallory, apiGroup: rbac.authorization.k8s.io}, {kind: ServiceAccount, name: mallory, namespace: hostile}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: mallory, namespace: hostile}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: nobody, namespace: hostile}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: monitoring}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: adversary-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: reader, namespace: monitoring}]
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: monitoring}
stringData: {user: main, password: ` + secretCanary + `-monitoring}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: good}
stringData: {user: good, password: ` + secretCanary + `-good, url: "https://hook.example/` + secretCanary + `-url"}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: private}
stringData: {user: private, password: ` + secretCanary + `-private}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: monitoring}
spec:
  replicas: 1
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: {}
  podMonitorSelector: {}
  podMonitorNamespaceSelector: {}
  probeSelector: {}
  probeNamespaceSelector: {}
  scrapeConfigSelector: {}
  scrapeConfigNamespaceSelector: {}
  ruleSelector: {}
  ruleNamespaceSelector: {}
  arbitraryFSAccessThroughSMs: {deny: true}
  remoteWrite: [{url: "http://store.example/", basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}}]
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: monitoring}
spec:
  replicas: 1
  alertmanagerConfigSelector: {}
  alertmanagerConfigNamespaceSelector: {}
---
apiVersion: monitoring.coreos.com/v1
kind: ThanosRuler
metadata: {name: main, namespace: monitoring}
spec:
  replicas: 1
  queryEndpoints: ["query.example:80"]
  ruleSelector: {}
  ruleNamespaceSelector: {}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: ` + privateCanary + `, namespace: private, labels: {team: ` + privateCanary + `}}
spec:
  selector: {matchLabels: {app: ` + privateCanary + `}}
  endpoints:
  - port: ` + privateCanary + `
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}
    relabelings: [{targetLabel: team, replacement: ` + privateCanary + `}]
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: hidden, namespace: private, annotations: {about: ` + privateCanary + `}}
spec:
  selector: {matchLabels: {app: ` + privateCanary + `}}
  endpoints: [{port: ` + privateCanary + `, relabelings: [{targetLabel: team, replacement: ` + privateCanary + `}]}]
---
apiVersion: v1
kind: Service
metadata: {name: ` + privateCanary + `, namespace: private, labels: {app: ` + privateCanary + `}}
spec: {clusterIP: None, ports: [{name: ` + privateCanary + `, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ` + privateCanary + `, namespace: private, labels: {kubernetes.io/service-name: ` + privateCanary + `}}
addressType: IPv4
endpoints: [{addresses: [192.0.2.7], conditions: {ready: true}}]
ports: [{name: ` + privateCanary + `, port: 80}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: ` + privateCanary + `, namespace: private}
spec: {groups: [{name: ` + privateCanary + `, rules: [{alert: A, expr: "up{team=\"` + privateCanary + `\"} == 0"}]}]}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: ` + privateCanary + `, namespace: private}
spec: {route: {receiver: ` + privateCanary + `}, receivers: [{name: ` + privateCanary + `}]}
`

// Canaries: values of Secrets, which must not appear anywhere, and values in objects that the hostile user may not
// read.
const (
	secretCanary  = "c4nary-secret"
	privateCanary = "c4nary-private"
)
