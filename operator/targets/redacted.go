package targets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
)

// Redacted returns the target without credentials: those in parameters of its URL, which are labels
// too, and in other URLs.
func (t Target) Redacted() Target {
	t.URL, t.Message = redact.URL(t.URL), redact.Text(t.Message)
	if t.Drop != nil {
		t.Drop = t.Drop.Redacted()
		t.Message = t.Drop.Message
	}
	t.Discovered, t.Labels = redact.Labels(t.Discovered), redact.Labels(t.Labels)
	return t
}

// Redacted returns the description of the step without credentials, including the values that the
// step compares with them.
func (d *Drop) Redacted() *Drop {
	out := *d
	if redact.Label(d.Rule.TargetLabel) || slices.ContainsFunc(d.Rule.SourceLabels, redact.Label) {
		out.Value, out.Found = redact.Hidden, "it is "+redact.Hidden
		if out.Rule.Regex != "" {
			out.Rule.Regex = redact.Hidden
			out.Want = fmt.Sprintf("%ss targets whose label %s matches %s", d.Rule.Action, strings.Join(d.Rule.SourceLabels, " and label "), redact.Hidden)
		}
		out.Message = strings.TrimSpace(out.Origin+" "+out.Want) + "; " + out.Found
		return &out
	}
	for _, text := range []*string{&out.Value, &out.Rule.Regex, &out.Want, &out.Found, &out.Message} {
		*text = redact.Text(*text)
	}
	return &out
}
