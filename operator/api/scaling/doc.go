// Package scaling is what the discovery service tells the operator about the number of shards of workloads: a JSON
// document in a ConfigMap, which the kubelet puts into a file of the operator's pod.
//
//	document.go  the document
//	shards.go    the number of shards of a workload
//
// So the operator needs no permission for it, and the number survives restarts of both.
package scaling
