// Package cached is the caches of the operator's controllers as a reader of a cluster: whoever
// reads from it causes no call to the API server.
package cached
