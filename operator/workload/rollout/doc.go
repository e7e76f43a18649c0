// Package rollout decides how a StatefulSet gets from what it is to what it
// should be while its pods keep running. It is pure: values in, decisions out.
//
//	if pod, why := rollout.Replace(sts, pods, ready); pod != nil {
//		// delete it; the StatefulSet creates the next one
//	}
//
//	adopt.go    do the pods fit when the StatefulSet must be recreated?
//	replace.go  which pod of a recreated StatefulSet is replaced next?
//	repair.go   which pod is in the way of a rollout?
package rollout
