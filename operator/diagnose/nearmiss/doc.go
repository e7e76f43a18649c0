// Package nearmiss says why a monitor finds no target, and what its author probably meant.
// It is pure: it compares what jobs look for with the Services, pods and RBAC that the
// caller has, such as those among manifests.
//
//	search.go jobs.go   what a job looks for, from the object and what it was compiled to
//	view.go addresses.go  the objects to look into
//	grouped.go          single pods as the pods of what makes them
//	extent.go           what of a running cluster is known completely, so that the rest does not exist
//	words.go            a search in words
//	found.go hint.go    what is said, about which object
//	labels.go           nothing has the labels: what has almost the same ones
//	services.go         a search for Services, step by step: labels, port, pods
//	pods.go             a search for pods
//	ports.go            a port that is not there: which one is meant
//	probes.go alerting.go  the prober of a Probe, the Alertmanagers of a Prometheus
//	answers.go policies.go  targets that will probably not answer: scheme, path, NetworkPolicies
//	duplicates.go       pods that are scraped twice
//	rbac.go permissions.go  what the ServiceAccount may list, and what is missing
//	reviews.go          the same from answers of an API server
//
//	view := nearmiss.NewView(objects, monitors)
//	searches, err := nearmiss.Read(monitor, text, namespace)
//	found := view.Workload("Prometheus", prometheus, []nearmiss.Use{{"ServiceMonitor", monitor, searches}})
//
// It prefers silence to a wrong hint: where no Service is known, nothing is said about
// Services; labels that nothing has are a hint only if something comes close.
package nearmiss
