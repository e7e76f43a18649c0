// Package alertmanager is the kind Alertmanager: how its spec, the Secret or the
// AlertmanagerConfig that is the base of its configuration, and the AlertmanagerConfigs
// that it selects become Secrets and pods. What reconciles it is package engine; what the
// pods of other kinds need too is in package workload, and the configuration file is
// package amconfig.
//
//	kind.go             the kind: names, selectors, what runs the pods
//	gather.go base.go   gather: compile the base and the AlertmanagerConfigs, once per change
//	inputs.go           what a reconciliation read
//	desired.go          decide: which objects should exist (pure)
//	config.go           put the configuration together and into its Secret
//	check.go            what Alertmanager would not start with
//	owner.go args.go pod.go volumes.go statefulset.go service.go secrets.go
//	                    the objects
//
// An [Owner] builds the objects from plain values only, and the same arguments give the
// same bytes:
//
//	owner := alertmanager.ForAlertmanager(am, cfg)
//	in := alertmanager.Inputs{TLSSecrets: n}
//	in.Hash, err = owner.InputHash(live, in)
//	sts, err := owner.StatefulSet(in)
//	for _, d := range owner.Dropped() { … } // fields the version does not support
//
// Whatever depends on a version is a row with a gate in args.go, or one of the ranges
// above its table.
package alertmanager
