// Package informer provides typed caches of the objects that the operator reads.
//
// Begin at [Store], the informer cache of one kind of object in the watched namespaces
// ([Namespaces]), which can iterate in the order of names. [Poll] configures its fallback
// without permission to watch, [Calls] counts its requests, and [Reads] logs failing
// lists and watches. The package is independent of the kinds of the API group.
package informer
