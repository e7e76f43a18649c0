// Package memo caches reads from a cluster with the permissions of a user for some seconds,
// so that a web page costs few calls: its parts share reads, and the next page reuses them.
//
//	reader.go   the cache, as a [readers.Reader]
//	watch.go    watches of cached lists: a change invalidates the cached results
//	source.go   the source of changes: metadata of an API server
//	feed.go     versions, and change notifications for clients
//
//	reader := memo.New(ctx, apiserver.Reader{…}, memo.Metadata(client))
//	answers := insight.New(insight.Parts{Reader: reader, …})
//
// Without permission to watch, results are read again after some seconds. Objects are shared and
// must not be modified.
package memo
