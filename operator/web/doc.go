// Package web is the HTTP API of the operator: what it knows, read only, for programs and
// for people.
//
//	GET /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/status   a workload with the status it should have now
//
// Answers come from the caches of the controllers. The only requests to the API server are
// those that ask who a caller is and what the caller may do (TokenReview,
// SubjectAccessReview); they are cached, and have a rate limit of their own, so that callers
// cannot slow the operator down. Errors are a metav1.Status, as from an API server.
//
//	handler.go     paths, methods and parameters
//	access.go      who may read what
//	limits.go      how many requests at a time, and for how long
//	answer.go      JSON, entity tags, errors
//	workloads.go   the status of a workload
package web
