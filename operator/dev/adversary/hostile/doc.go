// Package hostile generates valid API objects that are hard for controllers to handle: very long strings, very large
// lists, numbers that Go types cannot hold, keys with different case, deep trees, expensive expressions, and real
// manifests with such values in them.
//
//	s, err := hostile.New(hostile.Options{Seed: 1, Namespace: "tenant"})
//	o := s.Object(17) // always the same for this seed
//
// Values that the schema of the CRD rejects are replaced by others. A table of weighted strategies determines
// everything else.
//
//	source.go      objects by number; kinds, names, metadata
//	strategies.go  the table, and strategies that work for every schema
//	slots.go       the places of a schema, and how to set one
//	values.go      extremes of numbers, lists, maps
//	text.go        extremes of strings, with and without a pattern
//	monitors.go    strategies for monitors
//	rules.go       strategies for rules
//	routing.go     strategies for AlertmanagerConfigs
//	bases.yaml     valid objects, which mutations start with
package hostile
