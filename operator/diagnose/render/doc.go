// Package render renders the workloads among manifests like the operator and
// prints the objects, the plain configuration, or the plain rule files.
//
//	objects, err := manifests.Load(paths, kinds)
//	outputs, err := render.Workloads(objects, "")
//	outputs[0].WriteTo(os.Stdout, "config")
package render
