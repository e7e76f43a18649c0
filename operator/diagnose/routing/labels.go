package routing

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
)

// Labels are the labels of an alert.
type Labels = model.LabelSet

// ParseLabels parses labels of the form NAME=VALUE.
//
// Errors: another form, an empty name or value, a duplicate label. Names can have any characters,
// as in Alertmanager, but texts that look like a matcher are rejected.
func ParseLabels(texts []string) (Labels, error) {
	out := Labels{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		label := model.LabelName(name)
		switch _, twice := out[label]; {
		case !ok:
			return nil, fmt.Errorf("%q: want NAME=VALUE of a label", text)
		case strings.HasSuffix(name, "!") || strings.HasPrefix(value, "~"):
			return nil, fmt.Errorf("%q: want NAME=VALUE of a label, not a matcher", text)
		case name == "" || !utf8.ValidString(text):
			return nil, fmt.Errorf("%q: %q is not the name of a label", text, name)
		case value == "":
			return nil, fmt.Errorf("%q: the value is empty, which is the same as no label", text)
		case twice:
			return nil, fmt.Errorf("%q: label %s is given twice", text, name)
		}
		out[label] = model.LabelValue(value)
	}
	return out, nil
}
