// Package web serves the state of the operator over HTTP, read-only, as a JSON API and as HTML
// pages. [Routes] is the table of paths of the API: the handlers, the OpenAPI document and the page
// in docs/reference are derived from it.
//
// Responses come from [insight.Answers], which reads the caches of the controllers. Requests to the
// API server are access reviews of callers (TokenReview, SubjectAccessReview), which are cached and
// have a separate rate limit, so that callers cannot slow the operator down, and those to pods that a
// caller asks for, with the credentials of the caller. Errors are a metav1.Status, like those of an
// API server.
//
//	handler.go     the parts of the API, and registration of its paths
//	routes.go      the table of paths
//	query.go       parameters
//	request.go     from a request to its response; panics and errors
//	access.go      authentication of callers
//	tokens.go      cached tokens, and the limit of concurrent reviews of new ones
//	rights.go      authorization of callers
//	acting.go      questions to servers with the credentials of a caller
//	lanes.go       limits of concurrent work per caller
//	limits.go      limits of concurrent requests and of their duration
//	answer.go      JSON, entity tags, errors
//	objects.go     requests to insight
//	workloads.go   the status of a workload
//	shards.go      its shards
//	preview.go     manifests as if they were applied
//	events.go      the stream of changes
//	openapi.go     the OpenAPI document
//	profiles.go    access to profiles
//	metrics.go     metrics of requests
//
// A new path needs a row in the table of routes.go, a function that returns the response, a request
// in routes_test.go, and a run of make generate.
package web
