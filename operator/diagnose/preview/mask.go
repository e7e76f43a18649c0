package preview

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Hidden stands for what is not shown.
const Hidden = "<hidden>"

// param begins the labels that are parameters of a URL.
const param = "__param_"

// What of a text lets somebody in: the user in a URL and the values of its query, and a user
// without a URL.
var (
	userOfURL = regexp.MustCompile(`(://)[^/\s@?#]*@`)
	query     = regexp.MustCompile(`([?&][^=&\s]+=)[^&\s"]*`)
	password  = regexp.MustCompile(`^[^\s:@/]+:[^\s@/]+@`)
)

// MaskedText is a text without what lets somebody in.
func MaskedText(text string) string {
	switch {
	case strings.Contains(text, "://"), strings.HasPrefix(text, "/"):
		return query.ReplaceAllString(userOfURL.ReplaceAllString(text, "${1}"+Hidden+"@"), "${1}"+Hidden)
	case strings.Contains(text, "@"):
		return password.ReplaceAllString(text, Hidden+"@")
	}
	return text
}

// Masked is the target without values that let somebody in: parameters of its URL, which
// are labels too, and what is in URLs.
func Masked(t targets.Target) targets.Target {
	t.URL, t.Message = maskedURL(t.URL), MaskedText(t.Message)
	if t.Drop != nil {
		t.Drop = maskedDrop(t.Drop)
		t.Message = t.Drop.Message
	}
	t.Discovered, t.Labels = MaskedLabels(t.Discovered), MaskedLabels(t.Labels)
	return t
}

// maskedDrop is what is said about a step, without values that let somebody in, and what is
// compared with them.
func maskedDrop(d *targets.Drop) *targets.Drop {
	out := *d
	if IsSecret(d.Rule.TargetLabel) || slices.ContainsFunc(d.Rule.SourceLabels, IsSecret) {
		out.Value, out.Found = Hidden, "it is "+Hidden
		if out.Rule.Regex != "" {
			out.Rule.Regex, out.Want = Hidden, fmt.Sprintf("%ss targets whose label %s matches %s", d.Rule.Action, strings.Join(d.Rule.SourceLabels, " and label "), Hidden)
		}
		out.Message = strings.TrimSpace(out.Origin+" "+out.Want) + "; " + out.Found
		return &out
	}
	for _, text := range []*string{&out.Value, &out.Rule.Regex, &out.Want, &out.Found, &out.Message} {
		*text = MaskedText(*text)
	}
	return &out
}

// MaskedLabels are labels without values that let somebody in.
func MaskedLabels(l map[string]string) map[string]string {
	cloned := false
	for name, value := range l {
		shown := MaskedText(value)
		if IsSecret(name) {
			shown = Hidden
		}
		if shown == value {
			continue
		}
		if !cloned {
			l, cloned = maps.Clone(l), true
		}
		l[name] = shown
	}
	return l
}

// IsSecret reports whether the value of a label is hidden: that of a parameter which lets somebody in.
func IsSecret(label string) bool {
	name, is := strings.CutPrefix(label, param)
	return is && targets.IsCredential(name)
}

// maskedURL hides parameters by their names, so that others can be read, and what is in URLs
// among their values.
func maskedURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil: // as of an address that is a URL
		if plain, err := url.PathUnescape(text); err == nil && MaskedText(plain) != plain {
			return MaskedText(plain)
		}
		return MaskedText(text)
	case u.User == nil && u.RawQuery == "":
		return text
	}
	u.User = nil
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if ok && targets.IsCredential(name) {
			pairs[i] = name + "=" + Hidden
		} else if plain, err := url.QueryUnescape(value); err == nil && MaskedText(plain) != plain {
			pairs[i] = name + "=" + strings.ReplaceAll(url.QueryEscape(MaskedText(plain)), url.QueryEscape(Hidden), Hidden)
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}
