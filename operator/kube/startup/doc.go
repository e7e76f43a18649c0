// Package startup decides which components of the operator can start. It checks which CRDs are installed and
// which permissions the operator's account has.
//
// A [Component] is a controller or another part of the operator with its required resources, its permissions
// and a start function. The [Starter] starts it once the cluster meets the requirements:
//
//	s := startup.New(kube, scopes, log, startup.NewMissing(log))
//	if err := s.CheckOptional(ctx, startup.Optionals()); err != nil { // logs missing permissions with consequences
//		return err
//	}
//	ready, err := s.Check(ctx, startup.Controller("prometheus", own, selected, scopes, run)) // logs what is missing
//	...
//	s.Await(ctx, g.Go) // starts the others once their requirements are met
//
// With several replicas a [Leader] elects by a Lease the one that writes. The others start as well, which
// keeps their caches warm, and block in [Leader.Await] before they reconcile:
//
//	leader, err := startup.Elected(ctx, cfg, "firekeeper", "prometheus-operator", log) // or startup.Alone()
//	...
//	err = leader.While(ctx, run) // campaigns while run runs, and releases the Lease after its last write
//
// A fence in the HTTP client (fence.go), not the code above it, guarantees that two replicas never write at
// the same time.
//
// The package is independent of the kinds: callers pass the resources of each controller.
package startup
