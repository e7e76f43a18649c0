// Package thanosruler implements the kind ThanosRuler: it turns a spec and the selected
// rules into ConfigMaps, Secrets and pods. Package engine reconciles them; package
// workload has the parts of pods that all kinds share.
//
//	kind.go     the kind: selectors, objects that run the pods
//	gather.go   gather: compile rules and remote write, once per change
//	desired.go  decide: which objects should exist (pure)
//	check.go    specs that Thanos would not start with
//	builder.go  names, ports and folders of the objects
//	args.go files.go pod.go
//	            the pods
//
// A builder builds the objects from plain values only, and the same arguments result in
// the same bytes:
//
//	b := newBuilder(tr, cfg)
//	in := workload.PodInputs{RuleConfigMaps: plan.Names, TLSSecrets: n}
//	in.Hash, err = b.InputHash(live, in)
//	sts, err := b.StatefulSet(in)
//	for _, d := range b.Dropped() { … } // fields the version does not support
//
// Every version-dependent argument is a row with a gate in args.go. Files from Secrets
// are rows in files.go, faults rows in check.go.
package thanosruler
