package promconfig

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/gosyntax"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Defaults of a relabel step. A field with its default value counts as not set.
const (
	defaultSeparator   = ";"
	defaultRegex       = "(.*)"
	defaultReplacement = "$1"
)

// actionTraits are the rules for a relabel action.
type actionTraits struct {
	since       string // first versions that support the action, as in a tag
	needsTarget bool   // a valid target label is required
	plain       bool   // replacement must be the default
	compares    bool   // only source labels and target label may be set
	regexOnly   bool   // only the regex may be set
}

var actions = map[string]actionTraits{
	"replace":   {needsTarget: true},
	"hashmod":   {needsTarget: true},
	"lowercase": {needsTarget: true, plain: true, since: "2.36.0,thanos=0.28.0"},
	"uppercase": {needsTarget: true, plain: true, since: "2.36.0,thanos=0.28.0"},
	"keepequal": {needsTarget: true, plain: true, compares: true, since: "2.41.0,thanos=0.31.0"},
	"dropequal": {needsTarget: true, plain: true, compares: true, since: "2.41.0,thanos=0.31.0"},
	"labeldrop": {regexOnly: true},
	"labelkeep": {regexOnly: true},
	"labelmap":  {},
	"keep":      {},
	"drop":      {},
}

// relabelRules are the rules that apply to a workload.
type relabelRules struct {
	target gate.Target
	names
	regexps *regexcost.Budget // nil: not charged
	work    *int              // of the steps of an object, see stepsWork; nil: not limited
}

// rulesFor returns the rules of a version, with the scheme of the workload or the job.
func rulesFor(t gate.Target, scheme v1.NameValidationSchemeOptions) relabelRules {
	return relabelRules{target: t, names: namesOf(t, scheme)}
}

// counting returns the rules for one object, with its regular expressions charged to b.
func (r relabelRules) counting(b *regexcost.Budget) relabelRules {
	r.regexps = b
	return r
}

// ofObject returns the rules for one selected object, with all limits.
func (r relabelRules) ofObject() relabelRules {
	r.regexps, r.work = new(regexcost.Budget), new(int)
	return r
}

// check returns the errors of all invalid steps, each as "[index]: ...", or of the step up to which they make labels too large.
func (r relabelRules) check(configs []v1.RelabelConfig) error {
	var errs faults.List
	for i := range configs {
		if err := r.checkStep(&configs[i]); err != nil {
			errs.Add(faults.Index("", i), splitStep(configs[i:], err))
		}
		if errs.Full() {
			break
		}
	}
	if !errs.Any() {
		errs.Add("", checkGrowth(configs))
	}
	if !errs.Any() {
		errs.Add("", r.checkWork(configs))
	}
	return errs.Err()
}

// noTarget is the text of the error for a step that needs a target label.
const noTarget = "targetLabel: replace needs one"

// errSplitStep is the error for a step whose target label is in the next list item.
var errSplitStep = errors.New("replace needs one (is there a dash too many before the next step, which has it?)")

// splitStep returns the error of the first step with a hint, if the second one has exactly the missing fields.
func splitStep(steps []v1.RelabelConfig, err error) error {
	first := steps[0]
	if len(steps) < 2 || len(first.SourceLabels) == 0 || err.Error() != noTarget {
		return err
	}
	if next := steps[1]; next.TargetLabel == "" || len(next.SourceLabels) > 0 || next.Regex != "" && next.Regex != defaultRegex {
		return err
	}
	return faults.At("targetLabel", errSplitStep)
}

func (r relabelRules) checkStep(c *v1.RelabelConfig) error {
	action := strings.ToLower(c.Action)
	if action == "" {
		action = "replace"
	}
	traits, known := actions[action]
	if !known {
		return faults.At("action", fmt.Errorf("%q is not known", c.Action))
	}
	if need := r.target.Needs(traits.since); need != "" {
		return faults.At("action", fmt.Errorf("%q needs %s", action, need))
	}
	sourceNames := namesOf(r.target, "").plain // the scheme does not apply to them
	for i, label := range c.SourceLabels {
		if !sourceNames.valid(string(label)) {
			return faults.At(faults.Index("sourceLabels", i), invalidName(string(label)))
		}
	}
	if err := r.checkRegex(c.Regex); err != nil {
		return faults.At("regex", err)
	}
	if action == "hashmod" && c.Modulus == 0 {
		return faults.At("modulus", errors.New("must not be 0 for hashmod"))
	}
	if traits.needsTarget {
		if c.TargetLabel == "" {
			return faults.At("targetLabel", fmt.Errorf("%s needs one", action))
		}
		if !r.validTarget(action, c.TargetLabel) {
			return faults.At("targetLabel", invalidName(c.TargetLabel))
		}
	}
	return r.checkStepRest(c, action, traits)
}

// checkStepRest checks the fields that an action does not use.
func (r relabelRules) checkStepRest(c *v1.RelabelConfig, action string, traits actionTraits) error {
	plainReplacement := c.Replacement == nil || *c.Replacement == defaultReplacement
	plainSeparator := c.Separator == nil || *c.Separator == defaultSeparator
	switch {
	case traits.plain && !plainReplacement:
		return faults.At("replacement", fmt.Errorf("%s takes none", action))
	case action == "labelmap" && !r.template.valid(ptr.Deref(c.Replacement, defaultReplacement)):
		return faults.At("replacement", fmt.Errorf("%q does not make valid label names for the version", ptr.Deref(c.Replacement, defaultReplacement)))
	case traits.compares && (c.Regex != "" && c.Regex != defaultRegex || c.Modulus != 0 || !plainSeparator):
		return fmt.Errorf("%s takes only sourceLabels and targetLabel: remove the other fields", action)
	case traits.regexOnly && (len(c.SourceLabels) > 0 || c.TargetLabel != "" || c.Modulus != 0 || !plainSeparator || !plainReplacement):
		return fmt.Errorf("%s takes only a regex, which the names of labels are compared with: remove the other fields", action)
	}
	return nil
}

// checkRegex checks that the expression is valid in the form that Prometheus compiles, and
// within the budget of the object. Parsing finds all errors that compiling would find.
func (r relabelRules) checkRegex(regex string) error {
	if isWord(regex) {
		return nil
	}
	parsed, err := regexcost.ParseWithin("^(?s:", regex, ")$")
	if regexcost.IsTooMuch(err) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%q: %w%s", regex, err, regexcost.Hint(err, "use a step with drop, or with keep, of its own"))
	}
	if err := gosyntax.Regexp(r.target, regex); err != nil {
		return fmt.Errorf("%q: %w", regex, err)
	}
	if r.regexps == nil {
		return nil
	}
	return r.regexps.Add(parsed)
}

// isWord reports whether a simple name does not need to be parsed.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
