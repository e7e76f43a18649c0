// Package live looks around what jobs look for in a running cluster, with the permissions of
// whoever asks, so that package nearmiss can say what almost matches.
//
//	around.go       one view for a question, in steps: what is found, what is near, what is elsewhere
//	services.go     what is behind Services that are found
//	permissions.go  what the ServiceAccount may look for
//	lists.go        lists, each read once
//
//	look := live.New(ctx, reader).Look
//	view, unknown := look(workload, uses)
//
// It reads no more than a hint can be made of: what the selectors of a job match and, where that
// is nothing, the other objects of the same namespaces and what matches elsewhere. All lists are
// bounded. What may not be read is said, and never taken for nothing.
package live
