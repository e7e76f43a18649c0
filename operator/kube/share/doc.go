// Package share divides what workloads have in common among the namespaces that fill it:
// the Secrets of a configuration, its plain size, the Secrets of TLS files.
//
//	out := share.Divide(objects, room) // indices of those that are left out
//
// As long as everything fits, each namespace has what it needs, and one alone may fill it
// all. When it does not fit, the namespace that holds most loses its largest object, then the
// one that holds most after that, until the rest fits. So a namespace that holds no more
// than an equal share of the room never loses anything, whatever the others hold.
package share
