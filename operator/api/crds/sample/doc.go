// Package sample makes objects that a CRD allows, from nothing but its
// schema, for tests.
//
//	g, err := sample.New(crd, "v1")
//	object, err := g.Object(rand.New(rand.NewPCG(seed, 0)), 0.3) // about a third of the optional fields
//	objects, err := g.Maximal(rng)                               // together they set every field
//
// Equal seeds give equal objects. Strings satisfy their patterns, lists their
// bounds and keys, and what a CEL rule refuses is thinned out until it passes the
// checks of an API server.
//
//	generate.go  values from a schema
//	text.go      strings from a pattern
//	repair.go    removing what rules refuse
//	maximal.go   covering every field
package sample
