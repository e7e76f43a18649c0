// Package routing explains how an Alertmanager handles an alert: its path through the tree of
// routes, the notified receivers, and the intervals and rules that may mute it.
//
//	cfg, err := routing.Parse(text) // of the file that Alertmanager reads
//	report := cfg.Route(routing.Question{Labels: labels, At: time.Now()}, origins)
//	report.Write(os.Stdout, "text")
//
//	source.go    where configurations and rules are read: a cluster, manifests, or both
//	assumed.go   placeholders for values that may not be read
//	file.go      a configuration in a file
//	labels.go    the labels of an alert
//	config.go    the configuration, loaded as Alertmanager does
//	route.go     the path of an alert
//	tree.go      all routes, without an alert
//	compiled.go  the configuration that the operator generates
//	limits.go    what a report may cost
//	delivery.go  grouping, timing and intervals of the routes that take the alert
//	receiver.go  the integrations of a receiver
//	inhibit.go   rules that could inhibit the alert
//	origin.go    the object that a route or rule comes from
//	alert.go     the labels of an alert of a rule
//	hints.go     findings of lint that may explain the report
//	write.go     the report as text and JSON
//
// Loading, matching and time intervals use Alertmanager's own code. The package neither reads a
// clock nor writes to a cluster, and no report or error contains the value of a secret.
package routing
