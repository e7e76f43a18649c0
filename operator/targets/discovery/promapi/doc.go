// Package promapi reads the targets of Prometheus servers in pods, through the API server and with
// the permissions of the caller.
//
//	answer := promapi.Cluster{Kube: clientset}.Ask(ctx, promapi.Server{Namespace: "monitoring", Pod: "prometheus-k8s-0", ...})
//	if answer.Err != nil { ... } // why the targets are unknown
package promapi
