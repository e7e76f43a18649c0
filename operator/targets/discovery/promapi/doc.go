// Package promapi reads the targets of Prometheus servers in pods, through the API server and with
// the permissions of the caller.
//
//	kube, err := promapi.Client(cfg)
//	answer := promapi.Cluster{Kube: kube}.Targets(ctx, promapi.Server{Namespace: "monitoring", Pod: "prometheus-k8s-0", ...})
//	if answer.Err != nil { ... } // why the targets are unknown
//
//	client.go   a client for pods, which are not trusted
//	requests.go requests
//	read.go     responses, value by value
//	remedy.go   the usual fixes of errors of scrapes
package promapi
