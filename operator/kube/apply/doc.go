// Package apply contains all writes to the API server.
//
// Begin at [Writer.Do]. It takes complete desired objects and turns each into at most one
// request: a create, an update if a part of ours differs from the cache, or none. It
// keeps metadata of others and restores what the operator owns.
//
//	change, err := writer.Secret(ctx, want) // Created, Updated or Unchanged
//
// Objects are compared with the informer caches instead of a GET, so a reconciliation
// without changes sends no request. Because a cache lags behind our own writes, the
// response to each write is remembered until the cache has it or a newer version (see
// view.go).
//
// Writes are plain updates with optimistic locking and not server-side apply: objects
// written by the reference operator have fields owned by its update manager, which an
// apply by another manager cannot remove. For users' objects, [Objects] writes the
// status, by server-side apply, and finalizers (objects.go).
package apply
