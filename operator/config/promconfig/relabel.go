package promconfig

import (
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Step is one entry of a list of relabel steps: a user-defined [Relabel] or one of the
// forms that the operator writes, which differ in the order of their keys.
type Step interface{ step() }

// Relabel is a user-defined relabel step.
type Relabel struct {
	// SourceLabels are joined by Separator and matched against Regex.
	SourceLabels []v1.LabelName `yaml:"source_labels,omitempty"`
	// Separator may be empty, which differs from nil (default ";").
	Separator *string `yaml:"separator,omitempty"`
	// TargetLabel is the label to write.
	TargetLabel string `yaml:"target_label,omitempty"`
	// Regex is RE2, anchored at both ends.
	Regex string `yaml:"regex,omitempty"`
	// Modulus of the hash of the source labels.
	Modulus uint64 `yaml:"modulus,omitempty"`
	// Replacement may be empty, which differs from nil (default "$1").
	Replacement *string `yaml:"replacement,omitempty"`
	// Action is in lower case; empty for "replace".
	Action string `yaml:"action,omitempty"`
}

// filterStep keeps or drops targets.
type filterStep struct {
	// Action is keep, drop or labeldrop.
	Action string `yaml:"action"`
	// SourceLabels are the labels to match.
	SourceLabels []string `yaml:"source_labels,omitempty"`
	// Regex is RE2, anchored at both ends.
	Regex string `yaml:"regex"`
}

// portStep keeps targets of one container port.
type portStep struct {
	// Action is keep.
	Action string `yaml:"action"`
	// SourceLabels are the labels to match.
	SourceLabels []string `yaml:"source_labels"`
	// Regex is the port number, written as a number.
	Regex int32 `yaml:"regex"`
}

// copyStep copies a label.
type copyStep struct {
	// SourceLabels are the labels to copy.
	SourceLabels []string `yaml:"source_labels,omitempty"`
	// TargetLabel is the label to write.
	TargetLabel string `yaml:"target_label"`
	// Regex must match the source.
	Regex string `yaml:"regex,omitempty"`
	// Modulus of the hash of the source labels.
	Modulus int32 `yaml:"modulus,omitempty"`
	// Replacement for the target label.
	Replacement string `yaml:"replacement,omitempty"`
	// Action of the step; replace when empty.
	Action string `yaml:"action,omitempty"`
}

// ownerStep sets the Node or Pod name from the target reference of the address.
type ownerStep struct {
	// SourceLabels are the kind and name of the reference.
	SourceLabels []string `yaml:"source_labels"`
	// Separator is placed between the two.
	Separator string `yaml:"separator"`
	// Regex matches the kind.
	Regex string `yaml:"regex"`
	// Replacement is the name.
	Replacement string `yaml:"replacement"`
	// TargetLabel is node or pod.
	TargetLabel string `yaml:"target_label"`
}

// keepStep keeps targets. The action is the last key.
type keepStep struct {
	// SourceLabels are the labels to match.
	SourceLabels []string `yaml:"source_labels"`
	// Regex is RE2, anchored at both ends.
	Regex string `yaml:"regex"`
	// Action is keep.
	Action string `yaml:"action"`
}

func (*Relabel) step()    {}
func (*filterStep) step() {}
func (*portStep) step()   {}
func (*copyStep) step()   {}
func (*ownerStep) step()  {}
func (*keepStep) step()   {}

// appendRelabel appends user-defined steps.
func appendRelabel(steps []Step, configs []v1.RelabelConfig) []Step {
	if len(configs) == 0 {
		return steps
	}
	out := make([]Relabel, len(configs))
	for i := range configs {
		c := &configs[i]
		out[i] = Relabel{
			SourceLabels: c.SourceLabels, Separator: c.Separator, TargetLabel: c.TargetLabel, Regex: expression(c.Regex),
			Modulus: c.Modulus, Replacement: c.Replacement, Action: strings.ToLower(c.Action),
		}
		if out[i].Regex == defaultRegex && actions[out[i].Action].compares {
			out[i].Regex = "" // servers reject keepequal and dropequal with any regex, even the default
		}
		steps = append(steps, &out[i])
	}
	return steps
}

// sanitize converts a Kubernetes label key to a label name by replacing every character
// outside of [a-zA-Z0-9_] with "_".
func sanitize(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, key)
}
