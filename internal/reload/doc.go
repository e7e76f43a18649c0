// Package reload makes a server load the configuration on disk, and verifies that it did.
//
//	Loop    triggers comparisons (on a change, a slow tick, a retry) and calls Step,
//	        which prepares the content and returns its version
//	Target  keeps one server on the wanted version: one attempt at a time, backoff
//	        with jitter, newer content immediately
//	Trigger one attempt: HTTP posts to the reload endpoint, Signal sends SIGHUP
//
// The package is level-triggered: an event only causes a comparison. Duplicate, late or
// missing events are harmless.
//
// Two pitfalls shape the triggers. A Prometheus that is starting holds every reload
// request until it is ready, and processes all of them even if the client has given up.
// Readiness is therefore checked first, and no request is sent while an earlier one may
// still be in flight. And the time of the last load that the server reports has a
// resolution of one second, see [RuntimeInfo].
//
// The package never logs or returns credentials or queries of URLs. Error messages of a
// server may quote the configuration, including secrets. They are logged, and public
// reports only have known phrases of them (public.go).
package reload
