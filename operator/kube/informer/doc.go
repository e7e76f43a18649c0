// Package informer holds typed stores of what the operator reads.
//
// [Store] is the informer cache of one kind of object over the watched namespaces
// ([Namespaces]), in the order of their names; [Poll] is its fallback without
// permission to watch, [Calls] counts its requests, and [Reads] logs which lists and
// watches fail. The package knows no kind of the API group.
package informer
