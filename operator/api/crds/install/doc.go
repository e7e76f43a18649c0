// Package install installs the CRDs of the API group into a cluster.
//
//	plan, err := install.Plan(ctx, client, options)     // reads; errors have the rejected CRDs and why
//	for _, step := range plan { fmt.Println(step.Diff()) }
//	err = install.Apply(ctx, client, plan, progress)    // writes, then waits until all are established
//
// It uses server-side apply and takes over the fields of older managers, so that fields that a newer
// CRD no longer has are removed. Nothing is written if any CRD is rejected.
//
// Three parts of a live CRD are kept: the conversion webhook, which belongs to the deployment; a
// served version that we support, even if the chosen set does not have it; and annotations and labels
// of others.
//
//	plan.go      the steps for each CRD, and rejections
//	apply.go     applies the steps
//	takeover.go  fields of older managers
//	wait.go      waits until Established
//	diff.go      human-readable differences
package install
