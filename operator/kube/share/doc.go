// Package share divides a limited capacity that workloads share, such as the Secrets of a
// configuration, its plain size, the Secrets of TLS files or the memory of a server, among namespaces.
//
//	out := share.Divide(objects, room) // indices of the objects to leave out
//
// While everything fits, a single namespace may use the whole capacity. Otherwise the
// namespace that uses most loses its largest object, then the one that now uses most, until
// the rest fits. A namespace that does not exceed an equal share of the capacity never loses
// an object.
package share
