// Package alertmanager implements the kind Alertmanager: it turns a spec, a Secret or
// AlertmanagerConfig as the base of the configuration, and the selected
// AlertmanagerConfigs into Secrets and pods. Package engine reconciles them, package
// workload has the parts of pods that all kinds share, and package amconfig has the
// configuration file.
//
//	kind.go             the kind: selectors, objects that run the pods
//	gather.go base.go   gather: compile the base and the AlertmanagerConfigs, once per change
//	inputs.go           the inputs of a reconciliation
//	desired.go          decide: which objects should exist (pure)
//	config.go           assemble the configuration and write it to its Secrets
//	check.go            specs that Alertmanager would not start with
//	builder.go          names, ports and folders of the objects
//	args.go pod.go volumes.go
//	                    the pods
//
// A builder builds the objects from plain values only, and the same arguments result in
// the same bytes:
//
//	b := newBuilder(am, cfg)
//	in := workload.PodInputs{TLSSecrets: n}
//	in.Hash, err = b.InputHash(live, in)
//	sts, err := b.StatefulSet(in)
//	for _, d := range b.Dropped() { … } // fields the version does not support
//
// Every version-dependent decision is a row with a gate in args.go, or one of the ranges
// above its table; faults are rows in check.go.
package alertmanager
