// Package rollout decides how to roll out a StatefulSet while its pods keep running. All
// its functions are pure. Begin at [Replace].
//
//	if pod, why := rollout.Replace(sts, pods, ready); pod != nil {
//		// delete it; the StatefulSet creates the next one
//	}
//
//	adopt.go    do the pods fit if the StatefulSet must be recreated?
//	replace.go  which pod of a recreated StatefulSet is replaced next?
//	repair.go   which pod blocks a rollout?
package rollout
