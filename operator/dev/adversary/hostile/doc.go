// Package hostile makes objects that an API server stores and that a controller
// may stumble over: the longest strings, the largest lists, numbers that Go cannot
// hold, keys in another case, trees, expressions that are expensive, and real
// manifests with such values in them.
//
//	s, err := hostile.New(hostile.Options{Seed: 1, Namespace: "tenant"})
//	o := s.Object(17) // always the same for this seed
//
// What may be stored is read from the CRDs: a value that they refuse is replaced by
// another. Everything else is in a table of weighted strategies.
//
//	source.go      objects by number; kinds, names, metadata
//	strategies.go  the table, and strategies that work for every schema
//	slots.go       the places of a schema, and how to set one
//	values.go      extremes of numbers, lists, maps
//	text.go        extremes of strings, with and without a pattern
//	monitors.go    what is special to monitors
//	rules.go       … to rules
//	routing.go     … to AlertmanagerConfigs
//	bases.yaml     good objects, which mutations begin with
package hostile
