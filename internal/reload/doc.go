// Package reload makes a server run what is on disk, and knows whether it does.
//
//	Loop    decides when to compare (a change, a slow tick, a retry) and calls Step,
//	        which prepares the content and names its version
//	Target  keeps one server on the wanted version: one attempt at a time, backoff
//	        with jitter, newer content at once
//	Trigger one attempt: HTTP posts to the reload endpoint, Signal sends SIGHUP
//
// All of it is level based: an event never says what to do, only that it is time
// to compare. Nothing is lost when events are doubled, late or missing.
//
// Two traps shape the triggers. A Prometheus that still starts holds every reload
// request until it is ready, and works them off even when the client has given
// up: so readiness is checked first, and no request is sent while an earlier one
// may still be worked on. And the time of the last load that the server reports
// has a resolution of one second: see RuntimeInfo.
//
// The package never logs or returns credentials or queries of URLs. What a server says
// about a configuration may quote it, secrets included: that is logged, and reports
// for others hold known phrases of it only (public.go).
package reload
