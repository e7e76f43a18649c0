// Package evidence reads objects of a running cluster that are related to the discoveries of jobs, with
// the permissions of the user, so that package nearmiss can find near misses.
//
//	around.go       the view for a query, step by step: matches, near misses, other namespaces
//	services.go     objects behind the Services that are found
//	permissions.go  permissions of the ServiceAccount
//	lists.go        lists, each read once
//
//	look := evidence.New(ctx, reader).Look
//	view, unknown := look(workload, uses)
//
// It reads only objects that hints can be based on: the matches of the selectors of a job and, if
// there are none, the other objects of the same namespaces and matches in other namespaces. All
// lists are bounded. Forbidden lists are reported as unknown, and never taken as empty.
package evidence
