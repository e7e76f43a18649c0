package amconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// Validate checks the rules that depend neither on Secrets nor on the version. The admission
// webhook rejects objects that fail them. The errors are joined, at most [faults.Most]; each
// starts with the path of the field.
func Validate(config *v1alpha1.AlertmanagerConfig) error {
	_, err := validate(config)
	return err
}

// validate is like Validate and also returns the decoded routes.
func validate(config *v1alpha1.AlertmanagerConfig) (*routeNode, error) {
	if err := v1.Undecodable(config); err != nil {
		return nil, err
	}
	if err := budget.Elements(v1alpha1.AlertmanagerConfigKind, "spec.receivers", len(config.Spec.Receivers), budget.Receivers); err != nil {
		return nil, err
	}
	integrations := integrationsOf(config.Spec.Receivers)
	if err := checkIntegrations(integrations); err != nil {
		return nil, err
	}
	if err := checkInhibitRules(config.Spec.InhibitRules); err != nil {
		return nil, err
	}
	var wrong faults.List
	templates := templatecost.ForReceivers()
	receivers := map[string]bool{}
	for i := range config.Spec.Receivers {
		if wrong.Full() {
			break
		}
		r := &config.Spec.Receivers[i]
		if receivers[r.Name] {
			wrong.Add(faults.Index("spec.receivers", i)+".name", fmt.Errorf("%q is used twice", r.Name))
		}
		receivers[r.Name] = true
		wrong.Add(faults.Index("spec.receivers", i), errors.Join(checkReceiver(r), checkTemplates(templates, r)))
	}
	intervals := map[string]bool{}
	wrong.Add("", faults.Each("spec.muteTimeIntervals", config.Spec.MuteTimeIntervals, func(m *v1alpha1.MuteTimeInterval) error {
		intervals[m.Name] = true
		_, err := muteInterval(m)
		return err
	}))
	route, err := decodeRoutes(config.Spec.Route, "spec.route")
	wrong.Add("", err)
	if route != nil && !wrong.Full() { // if it is full, not all names were collected

		if route.Receiver == "" {
			wrong.Add("spec.route.receiver", errors.New("is empty; the top route needs a receiver"))
		}
		route.check(receivers, intervals, &wrong)
		if err != nil { // it is not converted, which would report them
			route.checkDurations(&wrong)
		}
		route.checkCosts(rangesOf(config.Spec.MuteTimeIntervals), &wrong)
		if route.fanOut("", integrations) > budget.Notifications {
			wrong.Add("spec.route", errFanOut)
		}
	}
	return route, wrong.Err()
}

// meant returns a suggestion for an undeclared name.
func meant(name string, declared map[string]bool) string {
	return manifest.Beside(name, slices.Collect(maps.Keys(declared)))
}

// check checks a route and its children.
//
// receivers, intervals: the declared names.
func (n *routeNode) check(receivers, intervals map[string]bool, wrong *faults.List) {
	if n.Receiver != "" && !receivers[n.Receiver] {
		wrong.Add(n.path+".receiver", fmt.Errorf("there is no receiver %q%s", n.Receiver, meant(n.Receiver, receivers)))
	}
	wrong.Add(n.path+".groupBy", checkGroupBy(n.GroupBy))
	for _, list := range []struct {
		field string
		names []string
	}{
		{"muteTimeIntervals", n.MuteTimeIntervals},
		{"activeTimeIntervals", n.ActiveTimeIntervals},
	} {
		for i, name := range list.names {
			if !intervals[name] && !wrong.Full() {
				wrong.Add(faults.Index(n.path+"."+list.field, i), fmt.Errorf("there is no time interval %q%s", name, meant(name, intervals)))
			}
		}
	}
	for i := range n.Matchers {
		if wrong.Full() {
			return
		}
		if n.faulty[i] {
			continue
		}
		wrong.Add(faults.Index(n.path+".matchers", i), checkMatcher(&n.Matchers[i]))
	}
	for _, child := range n.children {
		if wrong.Full() {
			return
		}
		child.check(receivers, intervals, wrong)
	}
}

// checkDurations checks the durations of a route and its children.
func (n *routeNode) checkDurations(wrong *faults.List) {
	if wrong.Full() {
		return
	}
	for _, d := range []struct {
		field string
		value v1.NonEmptyDuration
	}{{"groupWait", n.GroupWait}, {"groupInterval", n.GroupInterval}, {"repeatInterval", n.RepeatInterval}} {
		if _, err := model.ParseDuration(string(d.value)); d.value != "" && err != nil {
			wrong.Add(n.path+"."+d.field, err)
		}
	}
	for _, child := range n.children {
		child.checkDurations(wrong)
	}
}

// allLabels means all labels in groupBy.
const allLabels = "..."

func checkGroupBy(labels []string) error {
	var wrong faults.List
	seen := map[string]bool{}
	for i, label := range labels {
		switch {
		case wrong.Full():
			return wrong.Err()
		case seen[label]:
			wrong.Add(faults.Index("", i), fmt.Errorf("%q is used twice", label))
		case label == allLabels && len(labels) > 1:
			wrong.Add(faults.Index("", i), fmt.Errorf("%q must be the only element", label))
		}
		seen[label] = true
	}
	return wrong.Err()
}

// checkMatcher checks a matcher with a match type. Others are checked when they are converted.
func checkMatcher(m *v1alpha1.Matcher) error {
	switch m.MatchType {
	case "":
		return nil
	case v1alpha1.MatchEqual, v1alpha1.MatchNotEqual, v1alpha1.MatchRegexp, v1alpha1.MatchNotRegexp:
	default:
		return faults.At("matchType", fmt.Errorf("%q is not one of =, !=, =~, !~", m.MatchType))
	}
	if strings.TrimSpace(m.Name) == "" {
		return faults.At("name", errors.New("is empty"))
	}
	return nil
}
