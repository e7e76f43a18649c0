// Package insight is what the HTTP API and the pages say about a cluster: one answer for each
// thing that can be asked, the same for a program (JSON) and for a person (HTML).
//
//	answers.go   what can be asked, and the shapes of the answers
//	source.go    what else is needed of whoever reads: targets, versions, changes
//	cluster.go   answers about a cluster (Cluster), from what follows
//	world.go     what was read at one time: running.go the pods, know.go entry.go what is known
//	             of each workload, for as long as nothing about it changed
//	overview.go attention.go workload.go rollout.go explain.go config.go routes.go preview.go
//	             the answers
//	draft.go     what the operator compiles; drafts.go keeps it; mask.go mask_section.go
//	             mask_values.go take the credentials out
//	rights.go preview_rights.go
//	             what the caller may know
//	part.go      a part of a list
//	changes.go   changes, told to everybody who listens
//
// Answers are made from an [readers.Reader]: in the operator, the caches of its controllers; for
// a person with a kubeconfig, the API server. Nothing is written.
package insight
