// Package informer provides typed caches of the objects that the operator reads.
//
// Begin at [Store], the informer cache of one kind of object in the watched namespaces
// ([Namespaces]), which can iterate in the order of names. [Poll] configures its fallback
// without permission to watch, [Calls] counts its requests, and [Reads] logs failing
// lists and watches. The package is independent of the kinds of the API group.
//
//	store.go events.go order.go edits.go  the cache of a kind, its events, its order
//	scope.go where.go                     the namespaces that are watched, and the objects that callers want
//	pages.go bounded.go                   lists page by page, stores with a limit for their memory
//	persistent.go away.go overdue.go      an API server that is away, a watch that does not end
//	poll.go snapshot.go byname.go         reading periodically, without permission to watch or to list
//	part.go cover.go                      namespaces that can be watched nevertheless, objects that are known to be missing
//	reads.go calls.go refusals.go         logs and metrics of lists and watches, and those that are forbidden
package informer
