package redact

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// Hidden is the text that replaces a credential.
const Hidden = "<hidden>"

// The names of credentials.
var (
	// credentialKey matches the names of keys that hold credentials, and plainEnd the ends of names that credentialKey
	// matches although they hold none.
	credentialKey = lazyregexp.New(`(?i)token|secret|pass|pwd|key|sig|credential|auth|assertion|session`)
	plainEnd      = lazyregexp.New(`_(file|files|url|timeout|length|limit)$`)
	// users are keys that identify the holder of a credential.
	users = []string{"username", "client_id"}
	// secretMaps are keys of maps of which every value may be a credential.
	secretMaps = []string{"headers", "http_headers", "proxy_connect_header", "custom_headers", "endpoint_params"}
	// plainParams are the URL parameters that select the scraped metrics. Any other parameter may be
	// a credential, regardless of its name.
	plainParams = []string{"module", "target", "match[]"}
)

const (
	// params is the key of a map of URL parameters.
	params = "params"
	// paramLabel is the prefix of labels that are URL parameters.
	paramLabel = "__param_"
)

// Key reports whether a key of a configuration holds a credential.
func Key(name string) bool {
	name = strings.TrimPrefix(name, paramLabel)
	return slices.Contains(users, name) || credentialKey.MatchString(name) && !plainEnd.MatchString(name)
}

// isCredentialParam reports whether a URL parameter may be a credential.
func isCredentialParam(name string) bool { return !slices.Contains(plainParams, name) }

// Label reports whether the value of a label may be a credential, as that of a URL parameter.
func Label(name string) bool {
	name, is := strings.CutPrefix(name, paramLabel)
	return is && isCredentialParam(name)
}

// underscored returns the name of a field as a key of configurations: "basic_auth" for "basicAuth".
func underscored(field string) string {
	var out strings.Builder
	for _, r := range field {
		if r >= 'A' && r <= 'Z' {
			out.WriteByte('_')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
