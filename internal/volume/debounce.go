package volume

import "time"

// debounce decides when a burst of events is over. It has no clock of its own:
// every method is told the time.
//
//	                        settled volume        anything else
//	first change            quiet for settle      quiet for delay
//	in the wake of another  quiet for crowd       quiet for delay
//	changes without end     max after the first   max after the first
type debounce struct {
	delay  time.Duration // quiet time that always suffices; 0 acts at once
	settle time.Duration // quiet time that suffices for a settled volume; 0 switches this off
	max    time.Duration // limit from the first event on

	first, last time.Time // of the pending burst; zero when none is pending
	fired       time.Time // when the last burst was handed on
	looked      bool      // settled was asked since the last event
}

// crowd is the quiet time for a settled volume right after another change: the
// folders of a pod are refreshed together, and several objects are often changed
// one after the other, so the second of them waits for the third.
const crowd = 105 * time.Millisecond

// soon is the quiet time for a settled volume.
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

// next returns when due should be asked again. Only meaningful while pending.
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

// due reports whether the burst is over and forgets it if so. The function is
// asked at most once per event whether all changed folders are settled.
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
