package delivery

import (
	"fmt"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// clock is the difference between the clock of a pod and that of the operator.
type clock struct {
	ahead time.Duration // of the pod, negative if it is behind, 0 if the two may be equal
	error time.Duration // maximum error of ahead
}

// clockOf estimates the clock of a server from the header Date of a response, which counts whole seconds. The response
// was written between sent and received; date is zero if it has no such header.
func clockOf(date, sent, received time.Time) clock {
	least, most := date.Sub(received), date.Add(time.Second).Sub(sent)
	if date.IsZero() || least <= 0 && most >= 0 {
		return clock{}
	}
	return clock{ahead: (least + most) / 2, error: (most - least) / 2}
}

// ours converts a time of the pod's clock.
func (c clock) ours(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(-c.ahead)
}

// convert converts the times of a report.
func (c clock) convert(r *reload.Report) {
	if r.Current != nil {
		r.Current.Time = c.ours(r.Current.Time)
	}
	for _, t := range r.Targets {
		if t.Applied != nil {
			t.Applied.Time = c.ours(t.Applied.Time)
		}
	}
	for i, last := range r.Recent {
		r.Recent[i].Found, r.Recent[i].Loaded = c.ours(last.Found), c.ours(last.Loaded)
	}
}

// note describes a difference that matters to a reader of times; "" if there is none.
func (c clock) note() string {
	switch seconds := c.ahead.Round(time.Second); {
	case seconds >= 2*time.Second:
		return fmt.Sprintf("; its clock is %s ahead of the operator's", seconds)
	case seconds <= -2*time.Second:
		return fmt.Sprintf("; its clock is %s behind the operator's", -seconds)
	}
	return ""
}
