// Package thanosruler is the kind ThanosRuler: how the rules that one selects and its
// spec become ConfigMaps, Secrets and pods. What reconciles it is package engine; what
// the pods of other kinds need too is in package workload.
//
//	kind.go             the kind: names, selectors, what runs the pods
//	gather.go           gather: compile rules and remote write, once per change
//	desired.go          decide: which objects should exist (pure)
//	check.go            what Thanos would not start with; warnings.go: what fails later
//	owner.go args.go pod.go volumes.go statefulset.go service.go secrets.go
//	                    the objects
//
// An [Owner] builds the objects from plain values only, and the same arguments give the
// same bytes:
//
//	owner := thanosruler.ForRuler(tr, cfg)
//	in := thanosruler.Inputs{RuleConfigMaps: plan.Names, TLSSecrets: n}
//	in.Hash, err = owner.InputHash(live, in)
//	sts, err := owner.StatefulSet(in)
//	for _, d := range owner.Dropped() { … } // fields the version does not support
//
// Whatever depends on a version is a row with a gate in args.go. Files that a Secret
// brings are rows in volumes.go.
package thanosruler
