package preview

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// hidden stands for what is not shown.
const hidden = "<hidden>"

// param begins the labels that are parameters of a URL.
const param = "__param_"

// masked is the target without values that let somebody in: parameters of its URL, which
// are labels too, and the user in it.
func masked(t targets.Target) targets.Target {
	t.URL = maskedURL(t.URL)
	if d := t.Drop; d != nil && (secret(d.Rule.TargetLabel) || slices.ContainsFunc(d.Rule.SourceLabels, secret)) {
		drop := *d
		drop.Value, drop.Found = hidden, "it is "+hidden
		drop.Message = strings.TrimSpace(drop.Origin+" "+drop.Want) + "; " + drop.Found
		t.Drop, t.Message = &drop, drop.Message
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(t.Discovered)), secret) {
		t.Discovered = maps.Clone(t.Discovered)
		for name := range t.Discovered {
			if secret(name) {
				t.Discovered[name] = hidden
			}
		}
	}
	return t
}

// maskedFound is what a step found, without values that let somebody in.
func maskedFound(d *targets.Drop) string {
	return masked(targets.Target{Drop: d}).Drop.Found
}

// secret reports whether the value of a label is hidden.
func secret(label string) bool {
	name, is := strings.CutPrefix(label, param)
	return is && targets.IsCredential(name)
}

func maskedURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil && u.RawQuery == "" {
		return text
	}
	u.User = nil
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok && targets.IsCredential(name) {
			pairs[i] = name + "=" + hidden
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}
