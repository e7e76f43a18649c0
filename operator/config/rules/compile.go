package rules

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	// MaxFileBytes is the maximum size of one rule file, and of all contents of one ConfigMap together.
	MaxFileBytes = budget.RuleFileBytes

	// maxKeyBytes is the maximum length of a ConfigMap key in Kubernetes.
	maxKeyBytes = 253
)

// Fragment is a PrometheusRule compiled under some settings. It is immutable and may be shared.
type Fragment struct {
	// FileName is the key in the ConfigMap: <namespace>-<name>-<uid>.yaml. The UID
	// distinguishes foo-bar/fred from foo/bar-fred.
	FileName string

	// Content is the rule file; empty if the object is rejected.
	Content string

	// Dropped lists the fields that the version does not support, in document order:
	// "spec.groups[0].limit needs >= 2.31.0".
	Dropped []gate.Dropped

	// Remarks are about values that are not used as written:
	// "spec.groups[0].rules[1].expr: ...".
	Remarks []faults.Finding

	// Groups and Rules are the numbers of groups and rules in the object.
	Groups, Rules int

	// Regexps is the compiled size of the regular expressions of its expressions, in the unit of [regexcost.Of], and Effort
	// what it takes to parse them, in words × bytes.
	Regexps, Effort int

	// Err is why the object is rejected: an *InvalidError or nil.
	Err error
}

// Compile compiles an object to a rule file under settings s. It does not modify the object.
// It applies s.Excluded, so For is only needed to obtain the Key of the narrowed settings.
func Compile(r *v1.PrometheusRule, s Settings) Fragment {
	s = s.For(r.Namespace, r.Name)
	f := Fragment{
		FileName: r.Namespace + "-" + r.Name + "-" + string(r.UID) + ".yaml",
		Groups:   len(r.Spec.Groups),
	}
	if faults := r.GetDecoding().Unusable(); len(faults) > 0 {
		f.Err = undecodable(faults)
		return f
	}
	for i := range r.Spec.Groups {
		f.Rules += len(r.Spec.Groups[i].Rules)
	}
	if err := checkSize(&r.Spec, f.Rules); err != nil {
		f.Err = err
		return f
	}
	if n := len(f.FileName); n > maxKeyBytes {
		f.Err = reject(Fault{Field: "metadata.name", Reason: fmt.Sprintf(
			"namespace, name and uid make a file name of %d bytes, a ConfigMap allows %d", n, maxKeyBytes)})
		return f
	}

	doc, dropped := ruleFileOf(&r.Spec, s)
	f.Dropped = dropped
	var exprFaults map[[2]int]string
	parse := func() {
		var spent effort
		exprFaults, f.Remarks, spent = parseAll(&doc, r.Namespace, s)
		f.Regexps, f.Effort = spent.regexps, spent.parsing
	}
	if s.EnforcedLabel != "" { // the written expressions are modified
		parse()
	}
	content, err := doc.render()
	if err != nil {
		f.Err = reject(Fault{Field: "spec", Reason: "cannot be written as YAML: " + err.Error()})
		return f
	}
	if n := len(content); n > MaxFileBytes {
		f.Err = tooLarge(n)
		return f
	}
	if s.EnforcedLabel == "" {
		parse()
	}
	if faults := check(&doc, exprFaults, s); len(faults) > 0 {
		f.Err = &InvalidError{Faults: faults}
		return f
	}
	f.Content = content
	return f
}

func reject(f Fault) error { return &InvalidError{Faults: []Fault{f}} }

func tooLarge(n int) error {
	return reject(Fault{Field: "spec", Reason: fmt.Sprintf("the rule file has %d bytes, the limit is %d", n, MaxFileBytes)})
}

// leastRule is the minimum size of a rule in a file without its texts: "- expr: \n".
const leastRule = 10

// checkSize rejects what cannot fit into a file, before any of it is rendered. n is the number of rules.
func checkSize(spec *v1.PrometheusRuleSpec, n int) error {
	limit, _ := errors.AsType[*budget.Error](cmp.Or(
		budget.Elements(v1.PrometheusRuleKind, "spec.groups", len(spec.Groups), budget.Groups),
		budget.Elements(v1.PrometheusRuleKind, "spec.groups[].rules", n, budget.Rules),
	))
	if limit != nil {
		return reject(Fault{Field: limit.Field, Reason: fmt.Sprintf("more than %d elements in all, the limit of one %s", limit.Limit, limit.Kind)})
	}
	if err := checkRate(spec); err != nil {
		return err
	}
	bytes := n * leastRule
	for i := range spec.Groups {
		for j := range spec.Groups[i].Rules {
			r := &spec.Groups[i].Rules[j]
			bytes += len(r.Record) + len(r.Alert) + len(strings.TrimSpace(r.Expr.StrVal)) + textBytes(r.Labels) + textBytes(r.Annotations)
		}
	}
	if bytes > MaxFileBytes {
		return tooLarge(bytes)
	}
	return nil
}

// checkRate limits how many rules are evaluated in a second, of the groups that set an interval. Invalid ones are reported later.
func checkRate(spec *v1.PrometheusRuleSpec) error {
	rate := 0.0
	for i := range spec.Groups {
		g := &spec.Groups[i]
		if every, err := model.ParseDuration(string(g.Interval)); err == nil && every > 0 {
			rate += float64(len(g.Rules)) / time.Duration(every).Seconds()
		}
	}
	if rate > budget.Evaluations {
		return reject(Fault{Field: "spec.groups[].interval", Reason: fmt.Sprintf("with these intervals, %.0f rules are evaluated in a second, more than %d, the limit of one %s: write longer ones", rate, budget.Evaluations, v1.PrometheusRuleKind)})
	}
	return nil
}

func textBytes(of map[string]string) (n int) {
	for key, value := range of {
		n += len(key) + len(value)
	}
	return n
}
