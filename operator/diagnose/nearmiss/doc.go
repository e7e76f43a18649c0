// Package nearmiss explains why a monitor finds no targets, and suggests what its author probably
// meant. It is pure: it compares the discoveries of jobs with the Services, pods and RBAC objects
// that the caller provides, for example from manifests.
//
//	search.go jobs.go   the search of a job, from the object and its compiled text
//	view.go addresses.go  the objects to search
//	namespaces.go       objects inside and outside of the namespaces of a search
//	grouped.go          single pods, grouped by their workload
//	extent.go           parts of a running cluster that are known completely
//	words.go            human-readable searches
//	found.go hint.go    hints about objects
//	labels.go           no object has the labels: finds similar ones
//	services.go         a search for Services, step by step: labels, port, pods
//	pods.go             a search for pods
//	ports.go            a port that does not exist: suggests the one that is meant
//	probes.go alerting.go  the prober of a Probe, the Alertmanagers of a Prometheus
//	answers.go policies.go mesh.go  targets that probably cannot be scraped: scheme, path, NetworkPolicies, mTLS
//	hooks.go            webhooks whose Service does not exist
//	duplicates.go       pods that are scraped twice
//	rbac.go permissions.go  permissions of the ServiceAccount, and missing ones;
//	                        permissions_remedy.go says how to grant them
//	reviews.go          permissions according to the API server
//
//	view := nearmiss.NewView(objects, monitors)
//	searches, err := nearmiss.Read(monitor, text, text, namespace)
//	found := view.Workload("Prometheus", prometheus, []nearmiss.Use{{"ServiceMonitor", monitor, searches}})
//
// It prefers no hint to a wrong hint: without known Services there are no hints about Services, and
// labels without a match are a hint only if similar labels exist.
package nearmiss
