// Package web is the HTTP API of the operator: what it knows, read only, for programs and
// for people. [Routes] lists the paths; from that table come the handlers, the OpenAPI
// document and the page of docs/reference.
//
// Answers come from [insight.Answers], which has the caches of the controllers. The only
// requests to the API server are those that ask who a caller is and what the caller may do
// (TokenReview, SubjectAccessReview); they are cached, and have a rate limit of their own, so
// that callers cannot slow the operator down. Errors are a metav1.Status, as from an API
// server.
//
//	handler.go     what the API is made of, and where its paths are entered
//	routes.go      the table of paths
//	query.go       parameters
//	request.go     from a request to its answer; panics and errors
//	access.go      who the caller is
//	tokens.go      tokens that are known, and how many new ones at a time
//	rights.go      what the caller may do
//	limits.go      how many requests at a time, and for how long
//	answer.go      JSON, entity tags, errors
//	objects.go     what is asked of insight
//	workloads.go   the status of a workload
//	shards.go      its shards
//	preview.go     manifests as if they were applied
//	events.go      the stream of changes; news.go holds those that wait
//	openapi.go     the OpenAPI document
//	profiles.go    who may read profiles
//	metrics.go     metrics of requests
//
// A new path needs a row in the table of routes.go, a function that answers, a request in
// routes_test.go, and a run of make generate.
package web
