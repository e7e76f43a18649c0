// Package render writes the files a server reads: gunzipped, with references to
// environment variables replaced.
//
//	r := render.New(render.Options{Files: []render.File{{Input: "prometheus.yaml.gz", Output: "out.yaml"}}, …})
//	res, err := r.Render()
//
// Everything is streamed, so memory does not grow with the files. Each output
// appears by rename, complete or not at all, and only when its content differs;
// with several files none appears before all are ready. After an error every
// output is what it was. Inputs that have not changed are not expanded again.
//
// A configuration may come in parts, with a list beside it (internal/parts). They
// are used only as the set that the list names, and rule files that come with them
// are unpacked beside the output (archive.go).
//
// The package neither watches files nor notifies anybody.
package render
