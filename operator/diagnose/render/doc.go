// Package render renders the workloads among manifests like the operator and
// prints the objects, the plain configuration, or the plain rule files.
//
//	objects, err := manifests.Load(paths, kinds)
//	workloads, err := render.Workloads(objects, "")
//	for output := range render.Outputs(objects, workloads) {
//		output.WriteTo(os.Stdout, "config")
//	}
package render
