package targetset

import "time"

// Pauses between changes of a set that are passed on, as in Prometheus.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// throttle decides when changes of a set are passed on: the first at once, those that follow
// together after a pause, which doubles while changes go on. When the longest pause goes by
// without a change, the next one is the first again.
type throttle struct {
	waiting bool          // for a change to be passed on
	pause   time.Duration // after the last
	last    time.Time     // when one was passed on
}

// change tells of a change. It returns how long to wait with passing it on; ok is false when
// that was decided for an earlier one.
func (t *throttle) change(now time.Time) (wait time.Duration, ok bool) {
	if t.waiting {
		return 0, false
	}
	t.waiting = true
	since := now.Sub(t.last)
	if t.last.IsZero() || since > lastPause {
		t.pause = 0
		return 0, true
	}
	return max(t.pause-since, 0), true
}

// passed tells that changes are passed on now.
func (t *throttle) passed(now time.Time) {
	t.waiting, t.last = false, now
	t.pause = min(max(2*t.pause, firstPause), lastPause)
}
