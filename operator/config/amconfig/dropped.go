package amconfig

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// fieldNames holds the fields whose names cannot be derived from the key.
var fieldNames = map[string]string{
	"avatar_url":            "avatarURL",
	"message_thread_id":     "messageThreadID",
	"use_fips_sts_endpoint": "useFIPSSTSEndpoint",
	"smtp_tls_config":       "smtp.tlsConfig",
}

// fieldPath converts the path of a key to the path of the field in the object:
// "receivers[0].slack_configs[1].timeout" to "receivers[0].slackConfigs[1].timeout".
func fieldPath(path string) string {
	segments := strings.Split(path, ".")
	for i, segment := range segments {
		key, index, indexed := strings.Cut(segment, "[")
		name, ok := fieldNames[key]
		if !ok {
			name = camelCase(key)
		}
		if indexed {
			name += "[" + index
		}
		segments[i] = name
	}
	return strings.Join(segments, ".")
}

func camelCase(key string) string {
	words := strings.Split(key, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// fieldPaths applies [fieldPath] to all dropped keys.
func fieldPaths(dropped []gate.Dropped) []gate.Dropped {
	for i := range dropped {
		dropped[i].Path = fieldPath(dropped[i].Path)
	}
	return dropped
}
