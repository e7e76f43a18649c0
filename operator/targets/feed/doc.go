// Package feed hands the targets of central discovery out to the pods that scrape them. Each shard of
// a workload has a list: its jobs, each with its targets as JSON in the form of http_sd. Pods follow
// the list of their shard in a stream: the whole list once, then the jobs that change.
//
// Pure, with the clock as an argument:
//
//	version.go  versions of lists
//	targets.go  the encoded targets of a job, kept by target group
//	units.go    the units of these targets, which package balance has on shards
//	length.go   the length of a target before it is encoded
//	share.go    limits that namespaces share, within a job and among jobs
//	memory.go   the memory for all encoded targets
//	list.go     the list of a shard: what changed since a version
//	shrink.go   a list that shrinks suspiciously is held back
//	fit.go      limits of a list, divided by namespace: first jobs are reduced, then left out
//	block.go    compressed pieces of a stream, shared by the replicas of a shard
//
// Serving:
//
//	feed.go     all lists
//	claims.go   tokens that need no review, because they cannot be valid
//	identity.go the shard to which the sender of a token belongs
//	limits.go   the number of reviews and of streams, in total and per sender
//	review.go   reviews of the tokens of open streams
//	handler.go  GET /v1/assignments
//	stream.go   one stream
//	requests.go requests to pods in their streams
//	reports.go  POST /v1/reports: reports of pods about their lists
//	inventory.go POST /v1/inventory: the targets of pods
//	status.go   the lists and their pods
//	metrics.go  metrics of the server
//
// A stream is NDJSON, one object per line:
//
//	{"begin":{"version":"L-SEQ","full":true,"jobs":300}}
//	{"job":"serviceMonitor/demo/web/0","groups":[{"targets":["10.0.0.7:8080"],"labels":{…}}]}
//	{"end":{"version":"L-SEQ"}}
//	{"begin":{"version":"L-SEQ2","from":"L-SEQ","jobs":1}}
//	{"job":"serviceMonitor/demo/web/0","gone":true}
//	{"end":{"version":"L-SEQ2"}}
//	{"ping":{"version":"L-SEQ2"}}
//	{"ask":"inventory"}
//	{"watch":{"seq":3,"units":[{"id":"u1","targets":{"serviceMonitor/demo/web/0":["10.0.0.7:8080"]}}]}}
//
// There are no queues: a stream remembers the version that it sent, and the changes since then are
// computed when the client has received everything. A slow client gets fewer and larger steps.
//
// L identifies the leader: the time at which it began to lead, in milliseconds. It grows with each
// leader, also when the Lease is deleted. Replicas that do not lead respond with 503.
//
// Package central decides which workloads have lists, and their contents.
package feed
