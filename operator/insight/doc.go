// Package insight is what the HTTP API and the pages say about a cluster: one answer for each
// thing that can be asked, the same for a program (JSON) and for a person (HTML).
//
//	answers.go   what can be asked, and the shapes of the answers
//	source.go    what else is needed of whoever reads: targets, versions, changes
//
// Answers are made from an [online.Reader]: in the operator, the caches of its controllers; for
// a person with a kubeconfig, the API server. Nothing is written.
package insight
