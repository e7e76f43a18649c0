// Package render does without a cluster what the operator does in one: it reads
// manifests, applies the defaults of the API, and runs the same gather and
// decide steps, so that what it prints is what the operator would write.
//
//	objects, err := render.Load(paths)
//	for _, out := range render.Owners(objects, options) { … }
package render
