package routing

import (
	"time"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/inhibit"
)

// TreeWithin returns all routes and inhibition rules, without an alert and results of matching. Each
// route has the delivery for an alert that matches no route below it.
//
// Errors: [ErrBytes].
func (c *Config) TreeWithin(most Limits, at time.Time, known Origins) (Report, error) {
	w := c.walker(most, Question{At: at}, known)
	out := Report{Source: known.Source(), At: at, Labels: Labels{}, Route: w.tree(c.loaded.Route, c.root, nil), InhibitRules: []InhibitRule{}, Notes: known.notes()}
	for i, raw := range c.loaded.InhibitRules {
		if w.over() {
			break
		}
		out.InhibitRules = append(out.InhibitRules, w.inhibitRule(i, inhibit.NewInhibitRule(raw)))
	}
	return out, w.err
}

func (w walker) tree(raw *config.Route, r *dispatch.Route, at []int) Step {
	step := w.step(raw, r, at)
	step.Delivery = w.delivery(r)
	for i, child := range r.Routes {
		if w.over() {
			break
		}
		step.Routes = append(step.Routes, w.tree(raw.Routes[i], child, append(at[:len(at):len(at)], i)))
	}
	return step
}
