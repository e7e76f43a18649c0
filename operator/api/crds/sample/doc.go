// Package sample generates objects that a CRD accepts, from its schema alone, for tests.
//
//	g, err := sample.New(crd, "v1")
//	object, err := g.Object(rand.New(rand.NewPCG(seed, 0)), 0.3) // about a third of the optional fields
//	objects, err := g.Maximal(rng)                               // together they set every field
//
// Equal seeds give equal objects. Strings match their patterns, lists satisfy their bounds and keys, and
// optional fields are removed from objects that a CEL rule rejects until they pass the checks of an API
// server.
//
//	generate.go  values from a schema
//	text.go      strings from a pattern
//	repair.go    removing rejected fields
//	maximal.go   covering every field
package sample
