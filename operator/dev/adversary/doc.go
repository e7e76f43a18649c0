// Package adversary attacks an installation and holds what docs/security.md promises:
// whatever one namespace stores, and whatever a caller sends, leads to its own rejection
// and to nothing else.
//
//	result, err := adversary.Run(ctx, adversary.Options{Root: ".", Objects: 20000, …})
//
// A real API server has the CRDs, permissions and webhooks of deploy/. The operator, the
// webhooks and config-reloader run as processes in memory cgroups with the limits that
// are shipped. A user with the ClusterRole edit in one namespace creates, changes and
// deletes objects of package hostile there, a few hundred at a time, while others send
// hostile requests to the HTTP API, the pages and the webhooks. Beside them a good
// tenant changes its objects every few seconds.
//
// After each batch: no process has ended, what is written is what servers load, pods
// have not changed, every object of the user is used or says why it is not. At the end
// everything is as before, memory too. What breaks that is a [Finding], with the
// manifests that lead to it.
//
//	options.go run.go    what to do, in which order
//	world.go deploy.go   the cluster, and what deploy/ ships
//	processes.go hooks.go pod.go
//	                     the operator, the webhooks, config-reloader beside a server
//	written.go           what the operator has written
//	tenant.go            the good tenant
//	attack.go            the user with edit in one namespace
//	expect.go            what must be rejected
//	checks.go after.go   after each batch, and at the end
//	callers.go requests.go reviews.go
//	                     who sends hostile requests, and which
//	canary.go            what must not be seen
//	finding.go minimise.go
//	                     what was found, made small
package adversary
