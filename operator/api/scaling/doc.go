// Package scaling encodes the decisions of the discovery service about the number of shards of workloads: a JSON
// document in a ConfigMap, which the operator reads from a mounted file.
//
//	document.go  the document
//	shards.go    the number of shards of a workload
//
// So the operator needs no permission for it, and the number survives restarts of both.
package scaling
