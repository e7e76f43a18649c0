package amconfig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

const (
	// matchersSince is the first version with one list of matchers instead of the maps
	// for equality and for regular expressions.
	matchersSince = "alertmanager=0.22.0"
	// utf8Since is the first version whose label names can be any UTF-8 text.
	utf8Since = "alertmanager=0.27.0"
	// classicMode is the feature that takes this back.
	classicMode = "classic-mode"
)

// dialect is how an Alertmanager reads labels.
type dialect struct {
	// Matchers are a list.
	Matchers bool
	// UTF8 names of labels are allowed.
	UTF8 bool
}

func dialectOf(am *v1.Alertmanager, t gate.Target) dialect {
	d := dialect{Matchers: t.AtLeast(matchersSince), UTF8: t.AtLeast(utf8Since)}
	if slices.Contains(am.Spec.EnableFeatures, classicMode) {
		d.UTF8 = false
	}
	for _, arg := range am.Spec.AdditionalArgs {
		if arg.Name == "enable-feature" && strings.Contains(arg.Value, classicMode) {
			d.UTF8 = false
		}
	}
	return d
}

// matchers are those of one route or of one side of an inhibition rule.
type matchers struct {
	// List is for versions that have it.
	List []string
	// Equal and Regexp are for the versions before.
	Equal, Regexp map[string]string
}

// classicName is the label name of a matcher before utf8Since.
var classicName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// matchersFrom converts matchers.
//
// Errors, joined, start with the index: `[0].value: …`. They are about a match type before
// matchersSince, names that the target does not read, and regular expressions.
func (c *compiler) matchersFrom(in []v1alpha1.Matcher) (out matchers, err error) {
	var wrong faults.List
	for i := range in {
		addBelow(&wrong, fmt.Sprintf("[%d].", i), c.addMatcher(&out, &in[i]))
	}
	return out, wrong.Err()
}

func (c *compiler) addMatcher(to *matchers, m *v1alpha1.Matcher) error {
	d := c.labels
	if m.MatchType != "" && !d.Matchers {
		return errors.New("matchType: needs Alertmanager >= 0.22.0")
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
			return fmt.Errorf("value: %w", err)
		}
	}
	if d.Matchers {
		name, err := matcherName(m.Name, d)
		if err != nil {
			return fmt.Errorf("name: %w", err)
		}
		to.List = append(to.List, matcherText(name, how, m.Value))
		return nil
	}
	if err := checkLabelName(m.Name, d); err != nil {
		return fmt.Errorf("name: %w", err)
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

// matcherName writes names in quotes that are not classic, where the target reads them.
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

// checkLabelName is for the names of groupBy and equal.
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

// classicMatcher reports whether versions before utf8Since read text as matchers.
func classicMatcher(text string) bool {
	_, err := labels.ParseMatchers(text)
	return err == nil
}
