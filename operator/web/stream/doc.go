// Package stream has what streams of changes, of the HTTP API and of the pages, have in common.
//
//	pending.go  the changes that a stream has not sent yet
//	limits.go   the number of open streams
//	shares.go   how many of them the callers of one group may have
package stream
