package routing

import (
	"time"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/inhibit"
)

// Tree returns all routes and inhibition rules, without an alert and results of matching. Each
// route has the delivery for an alert that matches no route below it.
func (c *Config) Tree(at time.Time, known Origins) Report {
	w := walker{Config: c, Question: Question{At: at}, origins: known.of(c)}
	out := Report{Source: known.Source(), At: at, Labels: Labels{}, Route: w.tree(c.loaded.Route, c.root, nil), InhibitRules: []InhibitRule{}, Notes: known.notes()}
	for i, raw := range c.loaded.InhibitRules {
		out.InhibitRules = append(out.InhibitRules, w.inhibitRule(i, inhibit.NewInhibitRule(raw)))
	}
	return out
}

func (w walker) tree(raw *config.Route, r *dispatch.Route, at []int) Step {
	step := w.step(raw, r, at)
	step.Delivery = w.delivery(r)
	step.Delivery.GroupKey = "" // undefined without an alert
	for i, child := range r.Routes {
		step.Routes = append(step.Routes, w.tree(raw.Routes[i], child, append(at[:len(at):len(at)], i)))
	}
	return step
}
