// Package apply is the only package that writes to the API server.
//
// It takes complete desired objects and turns each into at most one request: a
// create, an update when something of ours differs from what the cache shows,
// or nothing. Metadata that others put on an object stays; what the operator
// owns is restored.
//
//	change, err := writer.Secret(ctx, want) // Created, Updated or Unchanged
//
// Objects are compared with the informer caches, not with a GET, so a
// reconciliation that changes nothing sends no request. Because a cache lags behind
// our own writes, the answer to every write is remembered until the cache shows it or
// something newer (see view.go).
//
// Plain updates with optimistic locking are used and not server-side apply:
// objects written by the reference operator carry fields owned by its update
// manager, which an apply by another manager can never remove. Of objects that users
// write, [Objects] writes the status, by server-side apply, and finalizers (objects.go).
package apply
