// Package targetset keeps the evaluated targets of jobs current: a change of one target group only
// costs the evaluation of that group, regardless of the number of other groups. The HTTP API and
// its pages use it.
//
//	set.go       groups -> counts by state, by step and by shard (no I/O)
//	entry.go     the same target in several groups (no I/O)
//	whole.go     groups of which one step drops all targets, in few bytes (no I/O)
//	budget.go    memory that the sets of many jobs share (no I/O)
//	page.go      rows of the targets that a filter selects (no I/O)
//	throttle.go  rate of change notifications (no I/O)
//	follow.go    the set of a job in a running cluster
//	lookup.go    its groups, and the results for their targets
//	within.go    the part of it that one caller may see
//
// Of dropped targets only the number by step is stored; rows of a page are evaluated on request.
//
//	followed := targetset.Follow(cluster, job, "monitoring", nil, changed)
//	defer followed.Close()
//	counts, gaps := followed.Counts(), followed.Gaps()
package targetset
