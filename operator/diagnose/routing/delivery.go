package routing

import (
	"maps"
	"slices"

	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/common/model"
)

// Delivery is what a route does with an alert that it takes.
type Delivery struct {
	Receiver Receiver `json:"receiver"`
	// GroupBy are the labels by which alerts are grouped; "..." is all of them.
	GroupBy  []string `json:"groupBy"`
	GroupKey string   `json:"groupKey"` // as Alertmanager's log and webhooks have it
	// Durations as the configuration writes them: "5m".
	GroupWait      string `json:"groupWait"`
	GroupInterval  string `json:"groupInterval"`
	RepeatInterval string `json:"repeatInterval"`

	MuteTimeIntervals   []Interval `json:"muteTimeIntervals,omitempty"`
	ActiveTimeIntervals []Interval `json:"activeTimeIntervals,omitempty"`
	// Muted says that the intervals keep the route quiet at the time of the question.
	Muted bool `json:"muted"`
}

// Interval is a time interval that a route names.
type Interval struct {
	Name   string `json:"name"`
	Active bool   `json:"active"` // at the time of the question
}

func (w walker) delivery(r *dispatch.Route) *Delivery {
	opts := r.RouteOpts
	out := &Delivery{
		Receiver:            w.receiver(opts.Receiver),
		GroupBy:             []string{},
		GroupWait:           model.Duration(opts.GroupWait).String(),
		GroupInterval:       model.Duration(opts.GroupInterval).String(),
		RepeatInterval:      model.Duration(opts.RepeatInterval).String(),
		MuteTimeIntervals:   w.named(opts.MuteTimeIntervals),
		ActiveTimeIntervals: w.named(opts.ActiveTimeIntervals),
	}
	group := Labels{}
	for name, value := range w.Labels {
		if _, by := opts.GroupBy[name]; by || opts.GroupByAll {
			group[name] = value
		}
	}
	out.GroupKey = r.Key() + ":" + group.String()
	for _, name := range slices.Sorted(maps.Keys(opts.GroupBy)) {
		out.GroupBy = append(out.GroupBy, string(name))
	}
	if opts.GroupByAll {
		out.GroupBy = []string{"..."}
	}
	active := func(i Interval) bool { return i.Active }
	out.Muted = slices.ContainsFunc(out.MuteTimeIntervals, active) ||
		len(out.ActiveTimeIntervals) > 0 && !slices.ContainsFunc(out.ActiveTimeIntervals, active)
	return out
}

// named returns the state of intervals. The loader has checked that they exist.
func (w walker) named(names []string) (out []Interval) {
	for _, name := range names {
		active, _, _ := w.intervals.Mutes([]string{name}, w.At)
		out = append(out, Interval{name, active})
	}
	return out
}
