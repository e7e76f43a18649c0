// Package memo remembers for some seconds what was read from a cluster with the permissions of
// a person, so that a page of a browser costs few calls: what several parts of it read is read
// once, and the next page begins with what the one before has read.
//
//	reader.go   the memory, as an [readers.Reader]
//	watch.go    watches of what was read: a change ends the memory of it
//	source.go   where changes come from: metadata of an API server
//	feed.go     versions, and changes for whoever shows what is read
//
//	reader := memo.New(ctx, readers.Cluster{…}, memo.Metadata(client))
//	answers := insight.New(insight.Parts{Reader: reader, …})
//
// Where the person may not watch, what was read is read again after some seconds. Objects are
// shared: nobody may change them.
package memo
