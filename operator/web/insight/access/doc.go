// Package access redacts responses to what the caller may read. A [Checker] caches the permission
// checks of one response; [Visibility] limits discoveries to the targets that the caller may see.
//
//	checker.go     permission checks, and the messages in place of hidden data
//	reader.go      a reader of the cluster with the permissions of the caller
//	visibility.go  the part of a cluster in which discovered objects are visible
package access
