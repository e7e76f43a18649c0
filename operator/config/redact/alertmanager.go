package redact

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parts of an Alertmanager's own file, a Secret, that are shown. All others are hidden.
var (
	// plainSections are the sections without credentials.
	plainSections = []string{"inhibit_rules", "time_intervals", "mute_time_intervals", "templates"}
	// plainKeys are, by section, the keys whose values are shown. Matchers are also shown with routes.
	plainKeys = map[string][]string{
		"route": {
			"receiver", "matchers", "match", "match_re", "group_by", "group_wait", "group_interval", "repeat_interval", "continue",
			"mute_time_intervals", "active_time_intervals",
		},
		"receivers": {"send_resolved"},
		"global":    {"resolve_timeout", "smtp_require_tls"},
	}
	// plainInErrors are keys of which also the author of an Alertmanager may see the values, in the
	// messages about invalid ones.
	plainInErrors = []string{
		"name", "resolve_timeout", "timeout", "retry", "expire", "ttl", "send_resolved", "require_tls", "smtp_require_tls", "max_alerts",
		"message_type", "api_type", "parse_mode", "min_version", "max_version", "region", "thread_by_date", "follow_redirects", "enable_http2",
		"insecure_skip_verify",
	}
)

// Section redacts a section of an Alertmanager's own file, or items of it, except what is plain. It
// reports whether anything is hidden.
func Section(n *yaml.Node, section string) bool {
	return !slices.Contains(plainSections, section) && except(n, plainKeys[section], section == "receivers" && n.Kind == yaml.SequenceNode)
}

// except redacts all scalars that are not below a plain key, nor the names of named items.
func except(n *yaml.Node, plain []string, named bool) (changed bool) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; !slices.Contains(plain, key) && !(named && key == "name") {
				changed = except(n.Content[i+1], plain, false) || changed
			}
		}
	case yaml.ScalarNode:
		return !constant(n) && hide(n, Hidden)
	default:
		for _, item := range n.Content {
			changed = except(item, plain, named) || changed
		}
	}
	return changed
}

// InError reports whether a message about an Alertmanager's own file must not contain the value at
// a path. Only routes, inhibition rules, time intervals, names, and a few settings may be shown.
func InError(path string) bool {
	section, _, _ := strings.Cut(path, ".")
	section, _, _ = strings.Cut(section, "[")
	if section == "route" || slices.Contains(plainSections, section) {
		return false
	}
	return !slices.Contains(plainInErrors, path[strings.LastIndexByte(path, '.')+1:])
}
