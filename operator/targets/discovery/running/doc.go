// Package running reads the targets of Prometheus servers in pods, through the API server and with
// the permissions of the caller.
//
//	answer := running.Cluster{Kube: clientset}.Ask(ctx, running.Server{Namespace: "monitoring", Pod: "prometheus-k8s-0", ...})
//	if answer.Err != nil { ... } // why the targets are unknown
package running
