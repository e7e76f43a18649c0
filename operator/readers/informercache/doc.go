// Package informercache reads a cluster from the informer caches of the operator's controllers and
// reports their changes. It never calls the API server.
//
//	reader.go   the caches, as a [readers.Reader]
//	events.go   the latest Events that the operator sent
//	feed.go     versions, and change notifications for clients
//
// Reads beyond the caches fail with status 503. Objects are shared with the caches and must not be
// modified.
package informercache
