// Package render prints what the operator would write for the workloads among
// manifests: objects, the plain configuration, or the plain rule files.
//
//	objects, err := manifests.Load(paths, kinds)
//	outputs, err := render.Workloads(objects, "")
//	outputs[0].WriteTo(os.Stdout, "config")
package render
