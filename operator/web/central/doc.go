// Package central runs central discovery: it follows the targets of the workloads with the annotation
// firekeeper.dev/target-discovery: both or central, and keeps the lists of package feed current.
//
//	central.go   the loop
//	workload.go  one workload: its jobs -> the lists of its shards
//	job.go       one job: its encoded targets, from the observer of its set
//	share.go     the memory of jobs
//	weighted.go  placement by series: inputs and outputs of the balancer of a workload
//	scaling.go   the number of shards
//	store.go     decisions about it, in a ConfigMap
//	listen.go    reports of pods
//	replicas.go  the pods of workloads
//	owners.go    the StatefulSets of all workloads
//	status.go    the lists of all workloads, as JSON and as a table
//	divided.go   the targets of each shard, and moves
//	report.go    the log and Events about workloads
//	metrics.go   metrics of all of this
//	pods.go      reads pods and reviews tokens
//
// Jobs come from package livetargets, which compiles workloads and limits them to what their
// ServiceAccounts may discover. A list exists once all jobs of the workload are complete, because
// unknown targets must not result in an empty list. Central are the jobs with Kubernetes discovery of the own cluster and no
// other discovery but static ones; pods keep discovering the targets of all other jobs themselves.
//
// Without more annotations, targets are on shards by hash. With firekeeper.dev/sharding: weighted, a balancer of package
// balance assigns them, in the leader alone: lists exist once pods have reported their targets.
//
// Every replica follows everything. Only the leader serves, see [feed.Feed.Lead], so that another one
// can take over immediately.
package central
