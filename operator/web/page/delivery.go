package page

import (
	"fmt"
	"strconv"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// delivery is how a change has reached the pods, in words.
type delivery struct{ insight.Delivery }

// Clock returns the time of the first event.
func (d delivery) Clock() string { return d.Noticed.UTC().Format("15:04:05.000 UTC") }

// Cause returns the cause of the change besides the objects that led to it.
func (d delivery) Cause() string {
	switch {
	case d.Events == 0:
		return "a periodic check, or the start of the operator"
	case d.Hidden == 1:
		return "an object that you may not get"
	case d.Hidden > 1:
		return number(d.Hidden) + " objects that you may not get"
	}
	return ""
}

// Further returns the number of events beyond one for each object; empty without any.
func (d delivery) Further() string {
	if n := d.Events - len(d.Objects) - d.Hidden; n > 0 {
		return number(d.Events) + " events in all"
	}
	return ""
}

// Wrote returns when the change was written.
func (d delivery) Wrote() string { return after(d.Noticed, d.Written) }

// Waited returns when the reconciliation started.
func (d delivery) Waited() string { return after(d.Noticed, d.Started) }

// Stage returns the progress of the pods.
func (d delivery) Stage(s timeline.Stage) string {
	switch {
	case d.Pods == 0:
		return "no pod was running"
	case s.Pods >= d.Pods:
		return after(d.Noticed, s.At)
	case s.Pods > 0:
		return fmt.Sprintf("%d of %d pods, %s", s.Pods, d.Pods, after(d.Noticed, s.At))
	case d.Complete():
		return "not reported"
	case d.Superseded:
		return "not confirmed before the next change"
	case d.Rejected > 0:
		return "no"
	}
	return "not confirmed yet"
}

// Rejects returns the number of pods that reject the change, in words; empty without any.
func (d delivery) Rejects() string {
	if d.Rejected == 0 {
		return ""
	}
	return fmt.Sprintf("rejected by %d of %d pods", d.Rejected, d.Pods)
}

// after returns the time between two times: "+18 ms", "+1.2 s", "+3m20s".
func after(from, to time.Time) string {
	switch d := to.Sub(from); {
	case to.IsZero():
		return "not known"
	case d < time.Second:
		return "+" + strconv.FormatInt(max(0, d.Milliseconds()), 10) + " ms"
	case d < time.Minute:
		return "+" + strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	default:
		return "+" + d.Round(time.Second).String()
	}
}
