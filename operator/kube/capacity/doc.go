// Package capacity bounds what the cached objects of users take in memory, all kinds and
// namespaces together, with what they compile to ([Capacity.Charge]).
//
//	stored := capacity.New(inflight.Memory() / budget.StoredShare)
//	monitors := stored.Cache("ServiceMonitor", read)
//	obj = monitors.Enter(obj) // on its way into the cache: the object, or its stub
//
// While everything fits, each object is cached whole, and one namespace may use all of the
// room. When it does not, the namespaces that hold most lose their largest objects first: the
// cache has a stub of such an object, which is rejected like one that cannot be decoded. A
// stub is read and cached whole as soon as there is room again.
//
// What is left out is decided twice: at once when an object arrives, so that the bound holds
// at every moment, and a little later over all of them ([share.Divide]), so that the result
// depends on what is stored and not on the order in which it arrived.
package capacity
