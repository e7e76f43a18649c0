// Package targetset keeps current what becomes of the targets of jobs: a change of one target
// group costs the evaluation of that group, however many others there are. The HTTP API and
// its pages show it.
//
//	set.go       groups → counts by state, by step and by shard (pure)
//	entry.go     the same target in several groups (pure)
//	page.go      rows of the targets that a filter selects (pure)
//	throttle.go  how fast changes are passed on (pure)
//	follow.go    the set of a job in a running cluster
//
// Nothing is kept of dropped targets but their number by step; rows of a page are evaluated
// when somebody asks for them.
//
//	followed := targetset.Follow(cluster, job, "monitoring", nil, changed)
//	defer followed.Close()
//	counts, gaps := followed.Counts(), followed.Gaps()
package targetset
