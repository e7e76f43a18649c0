// Package rollout decides how a StatefulSet gets from what it is to what it
// should be while its pods keep running. It is pure: values in, decisions out.
//
//	if why := rollout.Misfit(live, want); why != "" {
//		// the pods have to go with the old StatefulSet
//	}
//
//	adopt.go    may the pods stay when the StatefulSet must be made anew?
//	repair.go   which pod is in the way of a rollout?
package rollout
