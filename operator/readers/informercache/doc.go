// Package informercache reads a cluster from the informer caches of the operator's controllers, and
// tells what changes in them. It never calls the API server.
//
//	reader.go   the caches as an [readers.Reader]
//	events.go   the last Events that the operator has sent
//	feed.go     versions, and changes for whoever shows what is read
//
// What is not in the caches is not known, and an error of status 503 says so. Objects are
// those of the caches: nobody may change them.
package informercache
