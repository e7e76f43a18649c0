package redact

import (
	"maps"
	"net/url"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// Parts of a text that may be credentials: user info in a URL, values of its query, and user info
// without a URL.
var (
	userOfURL = lazyregexp.New(`(://)[^/\s@?#]*@`)
	query     = lazyregexp.New(`([?&][^=&\s]+=)[^&\s"]*`)
	password  = lazyregexp.New(`^[^\s:@/]+:[^\s@/]+@`)
)

// Text returns a text without the credentials in its URLs.
func Text(text string) string {
	switch {
	case strings.Contains(text, "://"), strings.HasPrefix(text, "/"):
		return query.ReplaceAllString(userOfURL.ReplaceAllString(text, "${1}"+Hidden+"@"), "${1}"+Hidden)
	case strings.Contains(text, "@"):
		return password.ReplaceAllString(text, Hidden+"@")
	}
	return text
}

// URL returns a URL without credentials. It redacts parameters by name, so that others remain
// readable, and credentials in URLs among their values.
func URL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil: // for example of an address that is a URL
		if plain, err := url.PathUnescape(text); err == nil && Text(plain) != plain {
			return Text(plain)
		}
		return Text(text)
	case u.User == nil && u.RawQuery == "":
		return text
	}
	u.User = nil
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if ok && isCredentialParam(name) {
			pairs[i] = name + "=" + Hidden
		} else if plain, err := url.QueryUnescape(value); err == nil && Text(plain) != plain {
			pairs[i] = name + "=" + strings.ReplaceAll(url.QueryEscape(Text(plain)), url.QueryEscape(Hidden), Hidden)
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}

// Labels returns labels without credentials. It does not modify l.
func Labels(l map[string]string) map[string]string {
	cloned := false
	for name, value := range l {
		shown := Text(value)
		if Label(name) {
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

// Values that parsers quote in their errors.
var (
	quoted = lazyregexp.New("`[^`]*`|\"(?:[^\"\\\\]|\\\\.)*\"|anchor '.*'")
	// ofAlertmanager matches those of Alertmanager and its libraries: URLs, texts of a wrong type,
	// templates. It quotes names in other errors.
	ofAlertmanager = lazyregexp.New("`[^`]*`" + `|(parse |host |address |scheme )"(?:[^"\\]|\\.)*"|(template: ).*`)
)

// Quoted returns an error of a parser without all that it quotes.
func Quoted(message string) string { return quoted.ReplaceAllString(message, "…") }

// AlertmanagerError returns an error of Alertmanager's parser without the values that it quotes.
func AlertmanagerError(message string) string {
	return ofAlertmanager.ReplaceAllString(message, "${1}${2}"+Hidden)
}
