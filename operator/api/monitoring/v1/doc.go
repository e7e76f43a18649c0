// Package v1 holds the stable kinds of the monitoring.coreos.com API group:
// Prometheus, Alertmanager and ThanosRuler (workloads the operator runs), and
// ServiceMonitor, PodMonitor, Probe and PrometheusRule (what those workloads
// use).
//
// There is one file per kind. What several kinds share lives in a file named
// after the concept: tls.go, auth.go, http.go, relabel.go, scrape.go, workload.go,
// storage.go, web.go, remotewrite.go, status.go and so on. Embedded structs are
// inlined on the wire.
//
// A field is a pointer where the zero value and an absent field mean different
// things. Elsewhere the zero value means "not set": the empty string, an empty
// Duration, false for a switch that is off by default.
//
// The package holds data and its schema; nothing here reads a cluster, and no
// rule that needs more than one field lives here unless the API server can check
// it (a CEL rule).
//
// +kubebuilder:object:generate=true
// +groupName=monitoring.coreos.com
package v1
