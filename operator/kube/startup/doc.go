// Package startup decides what the operator may start: which CRDs are installed,
// and which permissions its account has.
//
// A Component is a controller, or something else that needs both: it names the
// resources that must be installed, the permissions, and how to start it. The
// Starter starts a component once the cluster has what it needs:
//
//	s := startup.New(kube, scopes, log, startup.NewMissing(log))
//	if err := s.CheckOptional(ctx, startup.Optionals()); err != nil { // logs once what is missing, with the consequence
//		return err
//	}
//	ready, err := s.Check(ctx, startup.Controller("prometheus", own, selected, scopes, run)) // logs what is missing
//	…
//	s.Await(ctx, g.Go) // starts the others as soon as they can be
//
// Of several operators a [Leader] says which one writes, by a Lease. The others start all the
// same, so that their caches are warm, and wait with [Leader.Await] before they reconcile:
//
//	leader, err := startup.Elected(ctx, cfg, "firekeeper", "prometheus-operator", log) // or startup.Alone()
//	…
//	err = leader.While(ctx, run) // campaigns while run runs, and gives the lead up after its last write
//
// What guarantees that two never write at a time is a fence in the HTTP client (fence.go), not
// the code above it.
//
// The package knows no kind: callers say which resources belong to a controller.
package startup
