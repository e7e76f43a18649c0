package routing

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
)

// Labels are those of an alert.
type Labels = model.LabelSet

// ParseLabels reads labels as NAME=VALUE.
//
// Errors: one of another form, an empty name or value, a label given twice. Names can have
// any characters, as in Alertmanager, but what looks like a matcher is refused.
func ParseLabels(texts []string) (Labels, error) {
	out := Labels{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		label := model.LabelName(name)
		switch _, twice := out[label]; {
		case !ok:
			return nil, fmt.Errorf("%q: want NAME=VALUE", text)
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
