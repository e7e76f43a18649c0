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

// Hidden is the placeholder for redacted values.
const Hidden = "<hidden>"

// param is the prefix of labels that are URL parameters.
const param = "__param_"

// Parts of a text that may be credentials: user info in a URL, values of its query, and user info
// without a URL.
var (
	userOfURL = regexp.MustCompile(`(://)[^/\s@?#]*@`)
	query     = regexp.MustCompile(`([?&][^=&\s]+=)[^&\s"]*`)
	password  = regexp.MustCompile(`^[^\s:@/]+:[^\s@/]+@`)
)

// MaskedText returns a text with credentials redacted.
func MaskedText(text string) string {
	switch {
	case strings.Contains(text, "://"), strings.HasPrefix(text, "/"):
		return query.ReplaceAllString(userOfURL.ReplaceAllString(text, "${1}"+Hidden+"@"), "${1}"+Hidden)
	case strings.Contains(text, "@"):
		return password.ReplaceAllString(text, Hidden+"@")
	}
	return text
}

// Masked returns the target with credentials redacted: parameters of its URL, which are labels too,
// and user info and query values in other URLs.
func Masked(t targets.Target) targets.Target {
	t.URL, t.Message = maskedURL(t.URL), MaskedText(t.Message)
	if t.Drop != nil {
		t.Drop = maskedDrop(t.Drop)
		t.Message = t.Drop.Message
	}
	t.Discovered, t.Labels = MaskedLabels(t.Discovered), MaskedLabels(t.Labels)
	return t
}

// maskedDrop returns the description of a step with credentials redacted, including the values that
// the step compares with them.
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

// MaskedLabels returns labels with credentials redacted. It does not modify l.
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

// IsSecret reports whether the value of a label is redacted, as that of a URL parameter with a
// credential.
func IsSecret(label string) bool {
	name, is := strings.CutPrefix(label, param)
	return is && targets.IsCredential(name)
}

// maskedURL redacts parameters by name, so that others remain readable, and credentials in URLs
// among the values.
func maskedURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil: // for example of an address that is a URL
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
