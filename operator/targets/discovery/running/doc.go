// Package running asks servers of Prometheus in pods which targets they have, through the
// API server and with the permissions of the caller.
//
//	answer := running.Cluster{Kube: clientset}.Ask(ctx, running.Server{Namespace: "monitoring", Pod: "prometheus-k8s-0", …})
//	if answer.Err != nil { … } // why it is not known
package running
