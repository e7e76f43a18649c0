package targetset

import "time"

// Pauses between notifications of changes, as in Prometheus.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// throttle decides when to notify about changes: about the first one immediately, about later ones
// together after a pause, which doubles while changes continue. If no change happens during the
// longest pause, the next one counts as the first again.
type throttle struct {
	waiting bool          // a notification is scheduled
	pause   time.Duration // after the last notification
	last    time.Time     // time of the last notification
}

// change records a change. It returns the delay of its notification; ok is false if one is
// scheduled already.
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

// work is the part of the processor time that a set may use to evaluate changes of others: 1/work.
const work = 20

// taken records that changes were just taken, and how long that took. The pause before the next ones is proportional to
// it: a job that most changes do not concern takes relevant ones immediately, and an expensive job takes many together.
func (t *throttle) taken(now time.Time, took time.Duration) {
	t.waiting, t.last = false, now
	t.pause = min(max(work*took, firstPause), lastPause)
}

// passed records that a notification is sent now.
func (t *throttle) passed(now time.Time) {
	t.waiting, t.last = false, now
	t.pause = min(max(2*t.pause, firstPause), lastPause)
}
