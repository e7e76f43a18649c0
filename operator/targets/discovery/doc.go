// Package discovery builds groups of discovered labels from Kubernetes objects like the service
// discovery of Prometheus: it runs the Prometheus builders on objects that the caller supplies. It
// is independent of workloads and shards and does not call the API server: package lister reads it
// once, package watch continuously.
//
//	role.go      the kinds of objects, and which of them a discovery reads
//	objects.go   the objects, and which of them a discovery selects
//	trim.go      trimming of objects to the fields that matter
//	wire.go      the same on encoded lists of the API server
//	packed.go    pods in informers, encoded, and from events of the API server
//	recent.go    pods that were decoded last
//	informer.go  objects as informers, which the builders require
//	addresses.go iteration over addresses and containers
//	bounded.go   informers without objects whose groups would be too large
//	builder.go   the Prometheus builders, and detection of their last group
//	index.go     the indices that builders need
//	confine.go   groups without the pods of other namespaces
//	groups.go    one discovery -> groups, by role
//	brief.go     the same, with placeholders for targets of groups that all jobs drop
//	over.go      objects that replace others
//	follow.go    endpoints after a change of their Service
//	release.go   differences in older Prometheus releases
//	find.go      all discoveries of a job, and the gaps
//
//	var o discovery.Objects
//	o.Add(pod) // trimmed
//	found, err := o.Find(job, namespace)
package discovery
