package amconfig

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Route is a node of the routing tree.
type Route struct {
	// Receiver is the prefixed name; empty inherits from the parent.
	Receiver string `yaml:"receiver,omitempty"`
	// GroupBy lists label names, or only "...".
	GroupBy []string `yaml:"group_by,omitempty"`
	// Match and MatchRE are the matchers for versions before 0.22.0, by label name.
	Match   map[string]string `yaml:"match,omitempty"`
	MatchRE map[string]string `yaml:"match_re,omitempty"`
	// Matchers are of the form `name="value"`.
	Matchers []string `yaml:"matchers,omitempty" since:"alertmanager=0.22.0"`
	// MuteTimeIntervals are prefixed names of intervals.
	MuteTimeIntervals []string `yaml:"mute_time_intervals,omitempty" since:"alertmanager=0.22.0"`
	// ActiveTimeIntervals are prefixed names of intervals.
	ActiveTimeIntervals []string `yaml:"active_time_intervals,omitempty" since:"alertmanager=0.24.0"`
	// Continue also matches alerts against the following siblings.
	Continue bool `yaml:"continue,omitempty"`
	// Routes are the children.
	Routes []*Route `yaml:"routes,omitempty"`
	// GroupWait is a duration; empty inherits.
	GroupWait string `yaml:"group_wait,omitempty"`
	// GroupInterval is a duration, never zero; empty inherits.
	GroupInterval string `yaml:"group_interval,omitempty"`
	// RepeatInterval is a duration, never zero; empty inherits.
	RepeatInterval string `yaml:"repeat_interval,omitempty"`
}

// route converts a node and its children. Rules that validate has checked are not checked again.
//
// Errors start with the path in the object.
func (c *compiler) route(n *routeNode, errs *faults.List) *Route {
	set, err := c.matchersFrom(n.Matchers, n.faulty)
	errs.Add(n.path+".matchers", err)
	for i, label := range n.GroupBy {
		if label != allLabels {
			errs.Add(faults.Index(n.path+".groupBy", i), checkLabelName(label, c.labels))
		}
	}
	out := &Route{
		GroupBy: n.GroupBy, Match: set.Equal, MatchRE: set.Regexp, Matchers: set.List,
		MuteTimeIntervals:   c.prefixedAll(n.MuteTimeIntervals),
		ActiveTimeIntervals: c.prefixedAll(n.ActiveTimeIntervals),
		Continue:            n.Continue,
	}
	if n.Receiver != "" {
		out.Receiver = c.prefixed(n.Receiver)
	}
	for _, d := range []struct {
		field string
		in    v1.NonEmptyDuration
		zero  bool // whether zero is a valid value
		out   *string
	}{
		{"groupWait", n.GroupWait, true, &out.GroupWait},
		{"groupInterval", n.GroupInterval, false, &out.GroupInterval},
		{"repeatInterval", n.RepeatInterval, false, &out.RepeatInterval},
	} {
		*d.out, err = c.routeDuration(d.in, d.zero)
		errs.Add(n.path+"."+d.field, err)
	}
	for _, child := range n.children {
		if errs.Full() {
			break
		}
		out.Routes = append(out.Routes, c.route(child, errs))
	}
	return out
}

// routeDuration converts a duration. If zero is not a valid value, it is omitted, because
// Alertmanager rejects it.
func (c *compiler) routeDuration(d v1.NonEmptyDuration, zero bool) (string, error) {
	if d == "" {
		return "", nil
	}
	parsed, err := model.ParseDuration(string(d))
	if err != nil {
		return "", err
	}
	if parsed == 0 && !zero {
		return "", nil
	}
	if !zero && !c.isBase {
		if err := budget.CheckInterval(time.Duration(parsed)); err != nil {
			return "", err
		}
	}
	if c.target.AtLeast(compoundSince) {
		return string(d), nil
	}
	return c.promDuration(parsed), nil
}
