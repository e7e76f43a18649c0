// Package integration tests the operator binary against a real API server and controller manager without nodes: pods
// exist but never run.
//
// The operator runs as a separate process with the ServiceAccount of deploy/rbac.yaml, and all its requests are read
// from the audit log of the API server. Tests check that the expected writes happen, and no others.
//
//	go test ./operator/dev/integration           # about two minutes
//	go test -short ./operator/dev/integration    # skips all of it
package integration
