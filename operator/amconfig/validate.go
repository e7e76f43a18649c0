package amconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// Validate checks what can be said about an AlertmanagerConfig without its Secrets and
// without the version that reads it: what the admission webhook refuses. The first error
// is returned; it starts with the path of the field.
func Validate(config *v1alpha1.AlertmanagerConfig) error {
	_, err := validate(config)
	return err
}

// validate is Validate and returns the decoded routes.
func validate(config *v1alpha1.AlertmanagerConfig) (*routeNode, error) {
	receivers := map[string]bool{}
	for i := range config.Spec.Receivers {
		r := &config.Spec.Receivers[i]
		if receivers[r.Name] {
			return nil, fmt.Errorf("spec.receivers[%d].name: %q is used twice", i, r.Name)
		}
		receivers[r.Name] = true
		if err := checkReceiver(r); err != nil {
			return nil, fmt.Errorf("spec.receivers[%d].%w", i, err)
		}
	}
	intervals := map[string]bool{}
	for i := range config.Spec.MuteTimeIntervals {
		m := &config.Spec.MuteTimeIntervals[i]
		intervals[m.Name] = true
		if _, err := muteInterval(m); err != nil {
			return nil, fmt.Errorf("spec.muteTimeIntervals[%d].%w", i, err)
		}
	}
	route, err := decodeRoutes(config.Spec.Route, "spec.route")
	if err != nil || route == nil {
		return nil, err
	}
	if route.Receiver == "" {
		return nil, errors.New("spec.route.receiver: is empty; the top route needs a receiver")
	}
	return route, route.check(receivers, intervals)
}

// meant completes the message about a name that nothing declares.
func meant(name string, declared map[string]bool) string {
	if similar := manifest.Similar(name, slices.Sorted(maps.Keys(declared))); similar != "" {
		return fmt.Sprintf(", did you mean %q?", similar)
	}
	return ""
}

// check looks at a route and its children.
//
// receivers, intervals: the names that are declared.
func (n *routeNode) check(receivers, intervals map[string]bool) error {
	if n.Receiver != "" && !receivers[n.Receiver] {
		return fmt.Errorf("%s.receiver: there is no receiver %q%s", n.path, n.Receiver, meant(n.Receiver, receivers))
	}
	if err := checkGroupBy(n.GroupBy); err != nil {
		return fmt.Errorf("%s.groupBy%w", n.path, err)
	}
	for _, list := range []struct {
		field string
		names []string
	}{
		{"muteTimeIntervals", n.MuteTimeIntervals},
		{"activeTimeIntervals", n.ActiveTimeIntervals},
	} {
		for i, name := range list.names {
			if !intervals[name] {
				return fmt.Errorf("%s.%s[%d]: there is no time interval %q%s", n.path, list.field, i, name, meant(name, intervals))
			}
		}
	}
	for i := range n.Matchers {
		if err := checkMatcher(&n.Matchers[i]); err != nil {
			return fmt.Errorf("%s.matchers[%d].%w", n.path, i, err)
		}
	}
	for _, child := range n.children {
		if err := child.check(receivers, intervals); err != nil {
			return err
		}
	}
	return nil
}

// allLabels in groupBy stands for all labels.
const allLabels = "..."

func checkGroupBy(labels []string) error {
	seen := map[string]bool{}
	for i, label := range labels {
		switch {
		case seen[label]:
			return fmt.Errorf("[%d]: %q is used twice", i, label)
		case label == allLabels && len(labels) > 1:
			return fmt.Errorf("[%d]: %q must be the only element", i, label)
		}
		seen[label] = true
	}
	return nil
}

// checkMatcher checks a matcher that says its type; one that does not is checked when it
// is converted.
func checkMatcher(m *v1alpha1.Matcher) error {
	switch m.MatchType {
	case "":
		return nil
	case v1alpha1.MatchEqual, v1alpha1.MatchNotEqual, v1alpha1.MatchRegexp, v1alpha1.MatchNotRegexp:
	default:
		return fmt.Errorf("matchType: %q is not one of =, !=, =~, !~", m.MatchType)
	}
	if strings.TrimSpace(m.Name) == "" {
		return errors.New("name: is empty")
	}
	return nil
}
