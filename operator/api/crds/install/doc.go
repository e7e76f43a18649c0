// Package install brings the CRDs of the API group into a cluster.
//
//	plan, err := install.Plan(ctx, client, options)     // reads; errors say what is refused and why
//	for _, step := range plan { fmt.Print(step.Diff()) }
//	err = install.Apply(ctx, client, plan, options)     // writes, then waits until all can be used
//
// It writes by server-side apply and takes over what older managers own, so that
// fields which a newer CRD no longer has go away. Nothing is written when
// one CRD is refused.
//
// Three things of a live CRD survive: the conversion webhook, which
// belongs to the deployment; a version that is served and that we have, even if
// the chosen set leaves it out; and annotations and labels of others.
//
//	plan.go      what to do with each CRD, and what is refused
//	apply.go     doing it
//	takeover.go  fields of older managers
//	wait.go      until Established
//	diff.go      a difference that people can read
package install
