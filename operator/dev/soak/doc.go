// Package soak changes objects of many tenants for minutes or hours while an operator is disturbed at random, and counts
// what gets lost and what grows.
//
//	go test ./operator/dev/soak                                     # 12 seconds of changes, as in the integration tests
//	make soak DURATION=1h SEED=7
//
// A control plane without nodes has a Prometheus and an Alertmanager that select the objects of all tenants. Their pods
// are processes of this test: Prometheus, Alertmanager, config-reloader and rules-reloader, with volumes that get what the
// operator writes. Each tenant has objects that stay ("anchor") and others that change, among them invalid and hostile
// ones. Meanwhile, requests of the operator are refused, cut, delayed or lost, its watches end, and it, the reloaders and
// the API server are killed or paused.
//
//	soak_test.go     the run and its table
//	tenants_test.go  tenants, and their changes
//	faults_test.go   faults at random
//	servers_test.go  the pods
//	alerts_test.go   what arrives at the receivers of tenants
//	usage_test.go    memory, goroutines and file descriptors over time
package soak
