// Package targets receives the targets of one pod from a discovery server and serves them to the
// Prometheus beside it, as HTTP service discovery on the loopback interface.
//
//	discovery server -- stream --> list in memory -- /sd/JOB --> Prometheus
//	                                   |    ^
//	                                   v    | at startup
//	                               targets.json.gz
//
// [Client] keeps one connection to the server, which sends the list of each job and then its changes
// (stream.go says how). An update applies as a whole or not at all, and whatever fails, the last list
// stays: Prometheus never loses a target because the discovery server, the network or this program
// does.
//
// If the server accepts reports, the client also reports whether Prometheus has requested the current list and
// scrapes its targets (report.go, compare.go).
//
// The list of each job is kept as the gzip-compressed JSON that Prometheus receives, because it is
// stored, compared and served far more often than it is read. The file is the concatenation of these,
// with the framing of the stream between them.
package targets
