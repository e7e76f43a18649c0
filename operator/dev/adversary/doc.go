// Package adversary attacks an installation and verifies the guarantees of docs/security.md: the objects of one
// namespace and the requests of a client are rejected individually and affect nothing else.
//
//	result, err := adversary.Run(ctx, adversary.Options{Root: ".", Objects: 20000, …})
//
// A real API server has the CRDs, permissions and webhooks of deploy/. The operator, the webhooks and config-reloader
// run as processes in memory cgroups with the limits of deploy/. A user with the ClusterRole edit in one namespace
// creates, changes and deletes objects of package hostile there, a few hundred at a time, while other clients send
// hostile requests to the HTTP API, the web pages and the webhooks. At the same time a well-behaved tenant changes its
// objects every few seconds.
//
// After each batch, no process has exited, servers can load the written configurations, pods have not changed, and
// every object of the user is used or reports why it is not. At the end the state is the same as before, including
// memory. A violation is a [Finding], with the manifests that cause it.
//
//	options.go run.go    options and the sequence of steps
//	environment.go deploy.go   the cluster, and the contents of deploy/
//	processes.go hooks.go pod.go
//	                     the operator, the webhooks, config-reloader next to a server
//	written.go           the output of the operator
//	tenant.go            the well-behaved tenant
//	attack.go            the user with edit in one namespace
//	expect.go            the expected rejections
//	checks.go after.go   checks after each batch and at the end
//	callers.go requests.go reviews.go
//	                     hostile clients and their requests
//	installed.go         the installed objects, with canary values that must not leak
//	finding.go minimise.go
//	                     findings and their minimization
package adversary
