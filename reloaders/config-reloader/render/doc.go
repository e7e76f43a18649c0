// Package render writes the files that a server reads: decompressed, with references to environment variables
// replaced.
//
//	r := render.New(render.Options{Files: []render.File{{Input: "prometheus.yaml.gz", Output: "out.yaml"}}, ...})
//	res, err := r.Render(ctx)
//
// Everything is streamed, so memory use does not depend on the size of the files. Each output is replaced
// atomically by rename, and only if its content differs; with several files, none is replaced before all are
// ready. After an error all outputs are unchanged. Unchanged inputs are not expanded again.
//
// A configuration may be split into parts, with a list next to it (internal/parts). They are used only as the
// complete set of the list, and their rule files are unpacked next to the output (archive.go).
//
// The package neither watches files nor sends notifications.
package render
