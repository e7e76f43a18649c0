// Package capacity limits the memory of the cached user objects of all kinds and namespaces
// together, including the results of compiling them ([Capacity.Charge]). Begin at [Capacity].
//
//	stored := capacity.New(inflight.Memory() / budget.StoredShare)
//	monitors := stored.Cache("ServiceMonitor", read)
//	obj = monitors.Enter(obj) // before it is cached: the object, or its stub
//
// While everything fits, each object is cached whole, and a single namespace may use the
// whole capacity. Otherwise the namespaces that use most lose their largest objects first:
// the cache holds a stub of such an object, which is rejected like one that cannot be
// decoded. A stub is replaced by the whole object once it fits again.
//
// The objects to leave out are selected twice: immediately when an object arrives, so that
// the limit always holds, and a little later among all objects ([share.Divide]), so that the
// result does not depend on the order of arrival.
package capacity
