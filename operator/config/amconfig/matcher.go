package amconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

const (
	// matchersSince is the first version with a list of matchers instead of separate maps
	// for equality and regular expressions.
	matchersSince = "alertmanager=0.22.0"
	// utf8Since is the first version that supports UTF-8 label names.
	utf8Since = "alertmanager=0.27.0"
	// classicMode is the feature that disables UTF-8 label names.
	classicMode = "classic-mode"
)

// dialect describes how an Alertmanager parses labels.
type dialect struct {
	// Matchers means that matchers are a list.
	Matchers bool
	// UTF8 means that UTF-8 label names are allowed.
	UTF8 bool
}

func dialectOf(am *v1.Alertmanager, t gate.Target) dialect {
	d := dialect{Matchers: t.AtLeast(matchersSince), UTF8: t.AtLeast(utf8Since)}
	if slices.Contains(am.Spec.EnableFeatures, classicMode) {
		d.UTF8 = false
	}
	for _, arg := range am.Spec.AdditionalArgs {
		if name, value := arg.Flag(); name == "enable-feature" && strings.Contains(value, classicMode) {
			d.UTF8 = false
		}
	}
	return d
}

// matchers are the matchers of one route or one side of an inhibition rule.
type matchers struct {
	// List is used by versions that support it.
	List []string
	// Equal and Regexp are used by older versions.
	Equal, Regexp map[string]string
}

// classicName matches the label name of a matcher before utf8Since.
var classicName = lazyregexp.New(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// matchersFrom converts matchers, except those with some indexes, which were reported.
//
// Errors, joined, start with the index: `[0].value: ...`. They are about match types
// before matchersSince, names that the target does not support, and regular expressions.
func (c *compiler) matchersFrom(in []v1alpha1.Matcher, except map[int]bool) (out matchers, err error) {
	var errs faults.List
	for i := range in {
		if except[i] {
			continue
		}
		errs.Add(faults.Index("", i), c.addMatcher(&out, &in[i]))
	}
	return out, errs.Err()
}

func (c *compiler) addMatcher(to *matchers, m *v1alpha1.Matcher) error {
	d := c.labels
	if m.MatchType != "" && !d.Matchers {
		return faults.At("matchType", errors.New("needs Alertmanager >= 0.22.0"))
	}
	how := m.MatchType
	switch {
	case how == "" && m.Regex:
		how = v1alpha1.MatchRegexp
	case how == "":
		how = v1alpha1.MatchEqual
	}
	if how == v1alpha1.MatchRegexp || how == v1alpha1.MatchNotRegexp {
		if err := c.checkRegexp(m.Value); err != nil {
			return faults.At("value", err)
		}
	}
	if d.Matchers {
		name, err := matcherName(m.Name, d)
		if err != nil {
			return faults.At("name", err)
		}
		to.List = append(to.List, matcherText(name, how, m.Value))
		return nil
	}
	if err := checkLabelName(m.Name, d); err != nil {
		return faults.At("name", err)
	}
	into := &to.Equal
	if how == v1alpha1.MatchRegexp {
		into = &to.Regexp
	}
	put(into, m.Name, m.Value)
	return nil
}

func put(m *map[string]string, name, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[name] = value
}

// matcherName returns the name, quoted if it is not a classic one and the target supports it.
func matcherName(name string, d dialect) (string, error) {
	switch {
	case name == "":
		return "", errors.New("is empty")
	case classicName.MatchString(name):
		return name, nil
	case !d.UTF8:
		return "", notClassicError(name)
	}
	return `"` + matcherEscapes.Replace(name) + `"`, nil
}

var matcherEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func matcherText(name string, how v1alpha1.MatchType, value string) string {
	return name + string(how) + `"` + matcherEscapes.Replace(value) + `"`
}

func notClassicError(name string) error {
	return fmt.Errorf("%q is not a valid label name before Alertmanager 0.27.0 or in %s", name, classicMode)
}

// checkLabelName checks label names in groupBy and equal.
func checkLabelName(name string, d dialect) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case model.LegacyValidation.IsValidLabelName(name):
		return nil
	case !d.UTF8:
		return notClassicError(name)
	case !model.UTF8Validation.IsValidLabelName(name):
		return fmt.Errorf("%q is not valid UTF-8", name)
	}
	return nil
}

// classicMatcher reports whether versions before utf8Since accept text as matchers.
func classicMatcher(text string) bool {
	_, err := labels.ParseMatchers(text)
	return err == nil
}
