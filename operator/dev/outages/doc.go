// Package outages kills what central discovery consists of, at each step of a migration, and changes the number of
// shards. It checks that the scrapes of real Prometheus servers go on.
//
//	go test ./operator/dev/outages                          # one random outage in each step, and one shard more and less: two minutes
//	FIREKEEPER_OUTAGES=7 go test ./operator/dev/outages     # the same with this seed
//	make outages                                            # every outage in every step, a quarter of an hour
//	make moves                                              # 2, 3, 5, 3 and 2 shards with one and two replicas, hours
//
// Each server has its config-reloader and the configuration that the operator generates. The
// discovery service has two replicas behind a balancer, and both use a real API server. Targets are HTTP servers
// of the test that record when they are scraped.
//
//	outages_test.go   the steps and the outages, and the table of failures
//	world_test.go     everything that runs, and the checks after each step
//	cluster_test.go   the API server with a Prometheus, a monitor, and a pod per target
//	service_test.go   the discovery service, behind a balancer
//	shard_test.go     a Prometheus and its config-reloader
//	scrapes_test.go   targets, and gaps in their scrapes
//	moves_test.go     more and fewer shards, with targets placed by series
//	record_test.go    who scraped a target, and when
package outages
