// Package truth compares the targets that the operator reports for a workload with those of real Prometheus servers.
// Random workloads, monitors and clusters are compiled by the operator and run by each available release of Prometheus
// against the same API server.
//
//	go test ./operator/dev/truth                                # the releases that are built already
//	FIREKEEPER_PROMETHEUSES=1 go test ./operator/dev/truth      # builds missing ones, minutes for each
//	FIREKEEPER_EVENTS=10000 go test ./operator/dev/truth -run TestBuilders
//	FIREKEEPER_TRUTH=500 go test -timeout 2h ./operator/dev/truth -run TestRandom
//
// For every job and shard, the tests compare labels and URL of each active target and the number of dropped ones.
// Nothing is scraped: the addresses are unreachable.
//
//	random_test.go      workloads, monitors and objects
//	compile_test.go     monitors → the configuration of Prometheus, and the operator's result for it
//	prometheus_test.go  the real server and its targets
//	truth_test.go       the comparison
//	cluster_test.go     kube-prometheus in a real API server
//	builders_test.go    the groups of shared informers and those of Prometheus' own, while
//	events_test.go      objects change at random
package truth
