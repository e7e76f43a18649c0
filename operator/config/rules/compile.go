package rules

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	// MaxFileBytes limits the content of one rule file, and the contents of one
	// ConfigMap together.
	MaxFileBytes = budget.RuleFileBytes

	// maxKeyBytes limits a ConfigMap's key (a limit of Kubernetes).
	maxKeyBytes = 253
)

// Fragment is one PrometheusRule compiled for some settings. It is immutable and
// may be shared.
type Fragment struct {
	// FileName is the key in the ConfigMap: <namespace>-<name>-<uid>.yaml. The uid
	// keeps foo-bar/fred and foo/bar-fred apart.
	FileName string

	// Content is the rule file. Empty if the object is rejected.
	Content string

	// Dropped lists the fields the target version does not know, in the order of
	// the document: "spec.groups[0].limit needs >= 2.31.0".
	Dropped []string

	// Remarks are values that are not used as written: "spec.groups[0].rules[1].expr: …".
	Remarks []string

	// Groups and Rules count what the object declares.
	Groups, Rules int

	// Err says why the object is rejected: always an *InvalidError, or nil.
	Err error
}

// Compile turns one object into the rule file for an owner with settings s. The
// object is only read; s.Excluded is honoured, so narrowing s with For first is
// needed only for its Key.
func Compile(r *v1.PrometheusRule, s Settings) Fragment {
	s = s.For(r.Namespace, r.Name)
	f := Fragment{
		FileName: r.Namespace + "-" + r.Name + "-" + string(r.UID) + ".yaml",
		Groups:   len(r.Spec.Groups),
	}
	if faults := r.GetDecoding().Faults; len(faults) > 0 {
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
	if s.EnforcedLabel != "" { // what is written has other expressions
		exprFaults, f.Remarks = parseAll(&doc, r.Namespace, s)
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
		exprFaults, f.Remarks = parseAll(&doc, r.Namespace, s)
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

// leastRule is the least that a rule takes in a file besides its texts: "- expr: \n".
const leastRule = 10

// checkSize refuses what cannot fit into a file before any of it is written. n is the
// number of rules.
func checkSize(spec *v1.PrometheusRuleSpec, n int) error {
	limit, _ := errors.AsType[*budget.Error](cmp.Or(
		budget.Elements(v1.PrometheusRuleKind, "spec.groups", len(spec.Groups), budget.Groups),
		budget.Elements(v1.PrometheusRuleKind, "spec.groups[].rules", n, budget.Rules),
	))
	if limit != nil {
		return reject(Fault{Field: limit.Field, Reason: fmt.Sprintf("more than %d elements in all, the limit of one %s", limit.Limit, limit.Kind)})
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

func textBytes(of map[string]string) (n int) {
	for key, value := range of {
		n += len(key) + len(value)
	}
	return n
}
