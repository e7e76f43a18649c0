// Package thanosruler implements the kind ThanosRuler: it turns a spec and the selected
// rules into ConfigMaps, Secrets and pods. Package engine reconciles them; package
// workload has the parts of pods that all kinds share.
//
//	kind.go             the kind: names, selectors, objects that run the pods
//	gather.go           gather: compile rules and remote write, once per change
//	desired.go          decide: which objects should exist (pure)
//	check.go            specs that Thanos would not start with; warnings.go: later failures
//	owner.go args.go pod.go volumes.go statefulset.go service.go secrets.go
//	                    the objects
//
// An [Owner] builds the objects from plain values only, and the same arguments result in
// the same bytes:
//
//	owner := thanosruler.newBuilder(tr, cfg)
//	in := thanosruler.workload.PodInputs{RuleConfigMaps: plan.Names, TLSSecrets: n}
//	in.Hash, err = owner.InputHash(live, in)
//	sts, err := owner.StatefulSet(in)
//	for _, d := range owner.Dropped() { … } // fields the version does not support
//
// Every version-dependent argument is a row with a gate in args.go. Files from Secrets
// are rows in volumes.go.
package thanosruler
