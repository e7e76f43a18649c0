package amconfig

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// fieldNames are the fields whose names do not follow from the key that is written.
var fieldNames = map[string]string{
	"avatar_url":            "avatarURL",
	"message_thread_id":     "messageThreadID",
	"use_fips_sts_endpoint": "useFIPSSTSEndpoint",
	"smtp_tls_config":       "smtp.tlsConfig",
}

// fieldPath turns the path of a key into that of the field which the user wrote:
// "receivers[0].slack_configs[1].timeout" into "receivers[0].slackConfigs[1].timeout".
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

// fieldPaths is [fieldPath] for all that a version does not know.
func fieldPaths(dropped []gate.Dropped) []gate.Dropped {
	for i := range dropped {
		dropped[i].Path = fieldPath(dropped[i].Path)
	}
	return dropped
}
