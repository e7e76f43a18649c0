// Package truth compares the targets that the operator says a workload has with those of the
// real Prometheus: random workloads, monitors and clusters, compiled as the operator does and
// run by each release of Prometheus that is at hand, against the same API server.
//
//	go test ./operator/dev/truth                                # the releases that are built already
//	FIREKEEPER_PROMETHEUSES=1 go test ./operator/dev/truth      # builds missing ones, minutes for each
//	FIREKEEPER_EVENTS=10000 go test ./operator/dev/truth -run TestBuilders
//	FIREKEEPER_TRUTH=500 go test -timeout 2h ./operator/dev/truth -run TestRandom
//
// Compared are, for every job and shard, labels and URL of each active target and the number of
// dropped ones. Nothing is scraped: the addresses lead nowhere.
//
//	random_test.go      workloads, monitors and objects
//	compile_test.go     monitors → the document of Prometheus, and what we say about it
//	prometheus_test.go  the real server and its targets
//	truth_test.go       the comparison
//	cluster_test.go     kube-prometheus in a real API server
//	builders_test.go    the groups of shared informers and those of Prometheus' own, while
//	events_test.go      objects change at random
package truth
