// Package integration holds tests of the operator's program against a real
// API server and controller manager, without nodes: pods exist but never run.
//
// The operator runs as a process of its own, as the ServiceAccount of
// deploy/rbac.yaml, and every call it makes is read from the API server's audit
// log. Tests say what must be written, and that nothing else is.
//
//	go test ./operator/dev/integration           # about two minutes
//	go test -short ./operator/dev/integration    # skips all of it
package integration
