package volume

import "time"

// debounce decides when a burst of events is over. It does not read the clock: the time
// is an argument of every method.
//
//	                        settled volume        anything else
//	first change            quiet for settle      quiet for delay
//	soon after another      quiet for crowd       quiet for delay
//	endless changes         max after the first   max after the first
type debounce struct {
	delay  time.Duration // quiet time after which any burst is over; 0 means immediately
	settle time.Duration // quiet time after which a burst is over if the volume is settled; 0 disables this
	max    time.Duration // maximum time since the first event

	first, last time.Time // of the pending burst; zero if none is pending
	fired       time.Time // when the last burst ended
	looked      bool      // settled was called since the last event
}

// crowd is the quiet time for a settled volume right after another change. The folders of
// a pod are refreshed together, and several objects are often changed one after the
// other, so the second change waits for the third.
const crowd = 105 * time.Millisecond

// soon returns the quiet time for a settled volume.
func (d *debounce) soon() time.Duration {
	if !d.fired.IsZero() && d.first.Sub(d.fired) < crowd {
		return max(crowd, d.settle)
	}
	return d.settle
}

func (d *debounce) event(now time.Time) {
	if d.first.IsZero() {
		d.first = now
	}
	d.last = now
	d.looked = false
}

func (d *debounce) pending() bool { return !d.first.IsZero() }

// next returns when to call due next. It is only valid while a burst is pending.
func (d *debounce) next() time.Time {
	end := d.end()
	if soon := d.last.Add(d.soon()); d.settle > 0 && !d.looked && soon.Before(end) {
		return soon
	}
	return end
}

func (d *debounce) end() time.Time {
	quiet, limit := d.last.Add(d.delay), d.first.Add(d.max)
	if limit.Before(quiet) {
		return limit
	}
	return quiet
}

// due reports whether the burst is over, and then clears it. It calls settled, which
// reports whether all changed folders are settled, at most once per event.
func (d *debounce) due(now time.Time, settled func() bool) bool {
	if !d.pending() || now.Before(d.next()) {
		return false
	}
	if now.Before(d.end()) {
		d.looked = true
		if !settled() {
			return false
		}
	}
	d.first, d.last, d.fired = time.Time{}, time.Time{}, now
	return true
}
