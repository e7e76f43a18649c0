// Package status shows the status of a workload as one page: its conditions, the configuration
// that each pod runs, the objects that it accepts, rejects or does not select, and its last Events.
//
//	gather.go                  reads the facts from a cluster, with the permissions of the caller
//	view.go                    computes the page (pure)
//	conditions.go pods.go daemon.go objects.go events.go   parts of the page
//	write.go overview.go       text and JSON output
//	watch.go                   reports changes
//
// The page lists everything that could not be read; it never omits it silently.
package status
