// Package allocation decides which shards scrape the targets of a job whose discovery is central. It
// is pure: same arguments, same result.
//
//	hash.go  the placement hash: as the relabel steps of the job's own sharding decide
//
//	for shard, of := range allocation.ByHash(job.Shards(), job.Outcomes(group)) { … }
//
// Package targets runs the relabel steps that the operator generates, hashmod included, for each
// shard; there is no second implementation of the hash.
package allocation
