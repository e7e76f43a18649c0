package routing

import (
	"maps"
	"slices"

	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/common/model"
)

// Delivery describes how a route handles an alert that matches it.
type Delivery struct {
	Receiver Receiver `json:"receiver"`
	// GroupBy lists the labels by which alerts are grouped. "..." stands for all labels.
	GroupBy  []string `json:"groupBy"`
	GroupKey string   `json:"groupKey"` // as in Alertmanager's log and webhook messages
	// GroupWait is a Prometheus duration, for example "30s".
	GroupWait string `json:"groupWait"`
	// GroupInterval is a Prometheus duration, for example "5m".
	GroupInterval string `json:"groupInterval"`
	// RepeatInterval is a Prometheus duration, for example "4h".
	RepeatInterval string `json:"repeatInterval"`

	MuteTimeIntervals   []Interval `json:"muteTimeIntervals,omitempty"`
	ActiveTimeIntervals []Interval `json:"activeTimeIntervals,omitempty"`
	// Muted is true if the route is muted by its time intervals at the time of the report.
	Muted bool `json:"muted"`
}

// Interval is a time interval that a route refers to.
type Interval struct {
	Name   string `json:"name"`
	Active bool   `json:"active"` // true if the time of the report is within the interval
}

// delivery returns how a route handles an alert, without the key of the group.
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
	for _, name := range slices.Sorted(maps.Keys(opts.GroupBy)) {
		out.GroupBy = append(out.GroupBy, string(name))
	}
	if opts.GroupByAll {
		out.GroupBy = []string{"..."}
	}
	w.grow(deliveryValues+len(out.GroupBy), out.Receiver.Name)
	w.grow(0, out.GroupBy...)
	active := func(i Interval) bool { return i.Active }
	out.Muted = slices.ContainsFunc(out.MuteTimeIntervals, active) ||
		len(out.ActiveTimeIntervals) > 0 && !slices.ContainsFunc(out.ActiveTimeIntervals, active)
	return out
}

// Numbers of values of a [Delivery] and an [Interval].
const (
	deliveryValues = 8
	intervalValues = 2
)

// groupKey returns the key of the group of the alert.
func (w walker) groupKey(r *dispatch.Route) string {
	group := Labels{}
	for name, value := range w.Labels {
		if _, by := r.RouteOpts.GroupBy[name]; by || r.RouteOpts.GroupByAll {
			group[name] = value
		}
	}
	return r.Key() + ":" + group.String()
}

// named returns the state of intervals. The loader has checked that they exist.
func (w walker) named(names []string) (out []Interval) {
	for _, name := range names {
		active, _, _ := w.intervals.Mutes([]string{name}, w.At)
		out = append(out, Interval{name, active})
		w.grow(intervalValues, name)
	}
	return out
}
