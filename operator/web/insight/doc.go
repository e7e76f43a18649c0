// Package insight answers the requests of the HTTP API and its HTML pages about a cluster. [New]
// returns a [Cluster], which implements [Answers] with the same results for JSON and HTML.
//
//	answers.go   Answers: the requests; answers_overview.go, answers_workload.go and
//	             answers_targets.go have the types of the responses
//	source.go    TargetSource: the targets of workloads
//	cluster.go   Cluster: implements Answers
//	snapshot.go  an immutable snapshot of the cluster; running.go reads pods and StatefulSets, update.go
//	             and entry.go compute the state of each workload and cache it until what it depends on
//	             changes (dependencies.go)
//	overview.go attention.go workload.go rollout.go list.go explain.go config.go routes.go
//	             one request each; deliveries.go adds how changes reached pods, group.go puts equal problems
//	             together, similar.go suggests names,
//	             manifest.go shows an object, ui.go links to a program, history.go keeps changes,
//	             scrapes.go queries running servers
//	draft.go     compiles the configuration of a workload; drafts.go caches it
//	memory.go    memory limits for concurrent requests
//	lookup.go    the objects that a workload may select
//	part.go      pagination
//	changes.go   notifications of changes
//
// Below it, package access has the permissions of the caller, package configfile the sections of a
// compiled configuration and their redaction, and package previews the previews of manifests.
//
// Objects are compiled within the limits of package fragments, which the controllers share: a page
// takes neither more memory than they have nor, for long, the place of one of their objects. One
// snapshot is made at a time, and drafts wait for memory.
//
// All data comes from a [readers.Reader]: the caches of the controllers in the operator, or the API
// server for a user with a kubeconfig. Nothing is written.
package insight
