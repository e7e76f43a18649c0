// Package watch keeps the target groups of a cluster current, for everyone who wants to know
// what jobs discover: the HTTP API and its pages, and whoever serves targets to Prometheus.
// It calls the API server and knows neither workloads, shards nor HTTP.
//
//	cluster.go       what exists on demand, and is released when nobody used it for a while
//	source.go        one informer, trimmed: what it lists and watches, and why it cannot
//	filter.go        an informer as a builder of Prometheus sees it: through selectors
//	view.go          the groups of one kind of discovery, from a builder of Prometheus
//	subscription.go  the groups of one discovery: which have changed, and whether they are known
//
//	cluster := &watch.Cluster{Lists: watch.From(clientset)}
//	sub, err := cluster.Subscribe(sd, "monitoring", wake)
//	defer sub.Close()
//	sub.Take(func(source string, group *targetgroup.Group) { … }) // after each wake
//
// All subscriptions share one informer for each kind of object, and one view for each role,
// metadata and selectors: an event rebuilds one group, and wakes those that look into its
// namespace. Times are those of package time; tests run in bubbles of testing/synctest.
package watch
