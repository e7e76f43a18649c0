// Package routing says what an Alertmanager does with an alert: the way through its tree
// of routes, who is notified, and what may keep it quiet.
//
//	cfg, err := routing.Parse(text) // of the file that Alertmanager reads
//	report := cfg.Route(routing.Question{Labels: labels, At: time.Now()}, origins)
//	report.Write(os.Stdout, "text")
//
//	labels.go    the labels of an alert
//	config.go    the configuration, loaded as Alertmanager does
//	route.go     the way of an alert
//	tree.go      all routes, without an alert
//	compiled.go  the configuration as the operator makes it
//	delivery.go  groups, times and intervals of the routes at its end
//	receiver.go  what a receiver sends to
//	inhibit.go   rules that could silence the alert
//	origin.go    which object a route or rule comes from
//	alert.go     the labels of an alert of a rule
//	write.go     the report as text and JSON
//
// Loading, matching and time intervals are Alertmanager's own code. Nothing here reads
// a clock or talks to a cluster, and no report or error contains a secret's value.
package routing
