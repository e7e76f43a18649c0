// Package status shows a workload as one page: what its conditions say, what each pod runs,
// which objects it uses, rejects and leaves alone, and what happened last.
//
//	gather.go                  reads it from a cluster, with the permissions of whoever asks
//	view.go                    the page (pure)
//	conditions.go pods.go daemon.go objects.go events.go   its parts
//	write.go overview.go       for people
//	watch.go                   says when it may have changed
//
// What may not be read is a part of the page: it is never left out silently.
package status
