// Package watch keeps the target groups of a cluster current for all users of discovery: the HTTP
// API, its pages and the HTTP service discovery for Prometheus. It calls the API server and is
// independent of workloads, shards and HTTP.
//
//	cluster.go       views on demand, released after they have been idle
//	source.go        one informer of trimmed objects, and the errors of its calls
//	filter.go        an informer that shows a builder only selected objects
//	view.go          the groups of one kind of discovery, from a Prometheus builder
//	subscription.go  the groups of one discovery: changes, and whether they are complete
//	turns.go         few subscriptions evaluate groups at a time
//	over.go          the groups after objects were applied
//	foreign.go       groups with labels of pods in other namespaces
//
//	lists, err := watch.From(clientset, config)
//	cluster := &watch.Cluster{Lists: lists}
//	sub, err := cluster.Subscribe(sd, "monitoring", wake)
//	defer sub.Close()
//	sub.Take(names, drops, func(source string, group *targetgroup.Group) { ... }) // after each wake
//
// All subscriptions share one informer per kind of object, and one view per role, metadata and
// selectors: a watch event rebuilds one group and wakes the subscriptions to its namespace. Tests
// run in bubbles of testing/synctest.
package watch
