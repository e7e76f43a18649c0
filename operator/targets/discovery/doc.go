// Package discovery makes groups of discovered labels from Kubernetes objects, as the
// service discovery of Prometheus makes them: with its own builders, over objects that the
// caller has. It knows neither workloads nor shards, and calls no API server:
// package live does once, package watch again and again.
//
//	role.go      the kinds of objects, and which of them a discovery reads
//	objects.go   the objects, and which of them a discovery looks at
//	trim.go      what is kept of them
//	wire.go      the same for lists as API servers send them
//	informer.go  objects as informers, which the builders take
//	builder.go   Prometheus' builders over any informers, and the end of what they build
//	index.go     the indices that builders need
//	confine.go   groups without what other namespaces have
//	groups.go    one discovery → groups, by role
//	over.go      objects that take the place of others
//	release.go   what older releases of Prometheus find
//	find.go      all discoveries of a job, and what could not be looked at
//
//	var o discovery.Objects
//	o.Add(pod) // trimmed
//	found, err := o.Find(job, namespace)
package discovery
