package routing

import (
	"fmt"
	"time"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
)

// Question is an alert at a time.
type Question struct {
	Labels Labels
	At     time.Time
	// All includes the routes that do not match.
	All bool
}

// Step is a route that the alert reaches.
type Step struct {
	// Path is the path in the configuration, for example "route.routes[0]".
	Path   string `json:"path"`
	Origin Origin `json:"origin"`
	// Receiver is the effective receiver, which may be inherited from a parent route.
	Receiver string   `json:"receiver"`
	Matchers []string `json:"matchers,omitempty"`
	Continue bool     `json:"continue,omitempty"`
	Matched  bool     `json:"matched"`
	// Miss is the first matcher that does not match. Absent if all match or the route is not evaluated.
	Miss *Miss `json:"miss,omitempty"`
	// EndedBy is the path of an earlier route that matches without continue, so that this route is not evaluated.
	// Absent if there is none.
	EndedBy string `json:"endedBy,omitempty"`
	// Delivery describes how the route handles the alert. Absent if the route does not match or a child route handles
	// it.
	Delivery *Delivery `json:"delivery,omitempty"`
	Routes   []Step    `json:"routes,omitempty"`
}

// Miss is a matcher that does not match.
type Miss struct {
	Matcher string `json:"matcher"`
	Label   string `json:"label"`
	Value   string `json:"value,omitempty"` // value of the label in the alert
	Present bool   `json:"present"`         // true if the alert has the label
	// Added is true if the operator has added the matcher, which limits an AlertmanagerConfig to the alerts of its
	// namespace.
	Added bool `json:"added,omitempty"`
}

// Route returns the report about an alert.
func (c *Config) Route(q Question, known Origins) Report {
	out, _ := c.RouteWithin(Limits{}, q, known) // without limits, there are no errors
	return out
}

// RouteWithin is like Route, within limits.
//
// Errors: [ErrMatching], [ErrBytes].
func (c *Config) RouteWithin(most Limits, q Question, known Origins) (Report, error) {
	w := c.walker(most, q, known)
	root, _ := w.route(c.loaded.Route, c.root, nil)
	out := Report{
		Source: known.Source(), Labels: q.Labels, At: q.At, Route: root,
		InhibitRules: w.inhibitRules(), Notes: known.notes(),
	}
	if !q.All && out.Reached() == nil { // otherwise the routes show it
		out.Nearest = w.nearest()
	}
	return out, w.err
}

// mostShadowed is the maximum number of routes below one route that a report without All has although they are not
// evaluated, because they match and an earlier one does.
const mostShadowed = 3

type walker struct {
	*Config
	Question
	origins origins
	*spent
	notified map[string]*notified // receivers, by name; filled on demand
}

func (c *Config) walker(most Limits, q Question, known Origins) walker {
	return walker{c, q, known.of(c), &spent{Limits: most}, map[string]*notified{}}
}

// route follows the dispatcher of Alertmanager: it visits the first child that matches, and later
// ones while matching children have continue set.
func (w walker) route(raw *config.Route, r *dispatch.Route, at []int) (step Step, matched bool) {
	step = w.step(raw, r, at)
	if step.Miss = w.miss(r.Matchers); step.Miss != nil {
		step.Miss.Added = w.origins.added(at, *step.Miss)
		return step, false
	}
	step.Matched = true
	taken, ended, shadowed := false, "", 0
	for i, child := range r.Routes {
		if w.over() {
			return step, true
		}
		to := append(at[:len(at):len(at)], i)
		if ended != "" {
			if matches := w.miss(child.Matchers) == nil; w.All || matches && shadowed < mostShadowed {
				below := w.step(raw.Routes[i], child, to)
				below.EndedBy = ended
				step.Routes = append(step.Routes, below)
				shadowed++
			}
			continue
		}
		below, matched := w.route(raw.Routes[i], child, to)
		if taken = taken || matched; matched && !child.Continue {
			ended = below.Path
		}
		if w.All || below.Matched {
			step.Routes = append(step.Routes, below)
		}
	}
	if !taken {
		step.Delivery = w.delivery(r)
		step.Delivery.GroupKey = w.groupKey(r)
		w.grow(1, step.Delivery.GroupKey)
	}
	return step, true
}

// Numbers of values of a [Step], with the kind of its origin, and of a [Miss] without the texts that are charged.
const (
	stepValues = 10
	missValues = 5
)

// step returns a route without the result of matching.
func (w walker) step(raw *config.Route, r *dispatch.Route, at []int) Step {
	step := Step{
		Path: path("route", at), Origin: w.origins.route(at, raw.Receiver), Receiver: r.RouteOpts.Receiver, Continue: r.Continue,
	}
	for _, m := range r.Matchers {
		step.Matchers = append(step.Matchers, m.String())
	}
	w.grow(stepValues+len(step.Matchers), step.Path, step.Receiver, step.Origin.Namespace, step.Origin.Name, step.Origin.Field)
	w.grow(0, step.Matchers...)
	return step
}

// miss returns the first matcher that does not match the labels; nil when all do.
func (w walker) miss(all labels.Matchers) *Miss {
	for _, m := range all {
		value, present := w.Labels[model.LabelName(m.Name)]
		if !w.affords(m, w.Labels) || !(labels.Matchers{m}).Matches(w.Labels) {
			w.grow(missValues, m.Name, m.Value, string(value))
			return &Miss{Matcher: m.String(), Label: m.Name, Value: string(value), Present: present}
		}
	}
	return nil
}

// path returns the path of a route below a root.
func path(root string, at []int) string {
	for _, i := range at {
		root += fmt.Sprintf(".routes[%d]", i)
	}
	return root
}
