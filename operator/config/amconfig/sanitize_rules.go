package amconfig

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

// versionRules lists the version-dependent rules for a user-supplied document in the order in
// which they are applied. It does not repeat what Alertmanager's loader rejects in every version.
var versionRules = slices.Concat(globalRules, httpRules, credentialRules, receiverRules, inhibitRules, intervalRules, routeRules)

var globalRules = []versionRule{
	{path: "global.smtp_tls_config", since: "0.28.0"},
	{path: "global.slack_api_url_file", since: "0.22.0"},
	{path: "global.slack_app_token", since: "0.30.0"},
	{path: "global.slack_app_token_file", since: "0.30.0"},
	{path: "global.slack_app_url", since: "0.30.0"},
	{path: "global.opsgenie_api_key_file", since: "0.24.0"},
	{path: "global.smtp_auth_password_file", since: "0.25.0"},
	{path: "global.victorops_api_key_file", since: "0.25.0"},
	{path: "global.wechat_api_secret_file", since: "0.31.0"},
	{path: "global.telegram_bot_token", since: "0.31.0"},
	{path: "global.telegram_bot_token_file", since: "0.31.0"},
	{path: "global.smtp_auth_secret_file", since: "0.31.0"},
	{path: "global.smtp_force_implicit_tls", since: "0.31.0"},
	{path: "global.mattermost_webhook_url", since: "0.32.0"},
	{path: "global.mattermost_webhook_url_file", since: "0.32.0"},

	{path: "global.telegram_api_url", since: "0.24.0"},
	{path: "global.webex_api_url", since: "0.25.0"},
	{path: "global.jira_api_url", since: "0.28.0"},
	{path: "global.rocketchat_api_url", since: "0.28.0"},
	{path: "global.rocketchat_token", since: "0.28.0"},
	{path: "global.rocketchat_token_file", since: "0.28.0"},
	{path: "global.rocketchat_token_id", since: "0.28.0"},
	{path: "global.rocketchat_token_id_file", since: "0.28.0"},
	{path: "tracing", since: "0.30.0"},
	{path: "event_recorder", since: "0.33.0"},
}

var httpRules = []versionRule{
	{path: "HTTP.authorization", since: "0.22.0", do: fail},
	{path: "HTTP.oauth2", since: "0.22.0", do: fail},
	{path: "HTTP.follow_redirects", since: "0.22.0"},
	{path: "HTTP.enable_http2", since: "0.25.0"},
	{path: "HTTP.http_headers", since: "0.28.0"},
	{path: "HTTP.tls_config.min_version", since: "0.25.0"},
	{path: "HTTP.tls_config.max_version", since: "0.25.0"},
	{path: "HTTP.tls_config.max_version", do: fail, when: belowMinVersion, why: "is lower than min_version"},
	{path: "HTTP.proxy_from_environment", since: "0.26.0"},
	{path: "HTTP.no_proxy", since: "0.26.0"},
	{path: "HTTP.proxy_connect_header", since: "0.26.0"},
	{path: "HTTP.oauth2.tls_config", since: "0.24.0"},
	{path: "HTTP.oauth2.tls_config.min_version", since: "0.25.0"},
	{path: "HTTP.oauth2.tls_config.max_version", since: "0.25.0"},
	{path: "HTTP.oauth2.proxy_url", since: "0.25.0"},
	{path: "HTTP.oauth2.no_proxy", since: "0.26.0"},
	{path: "HTTP.oauth2.proxy_from_environment", since: "0.26.0"},
	{path: "HTTP.oauth2.proxy_connect_header", since: "0.26.0"},
	{path: "receivers[].email_configs[].tls_config.min_version", since: "0.25.0"},
	{path: "receivers[].email_configs[].tls_config.max_version", since: "0.25.0"},
}

// credentialRules are about keys without which requests would be sent with other credentials, or none.
var credentialRules = slices.Concat(
	required("HTTP.basic_auth", "0.27.0", "username_file"),
	required("HTTP.basic_auth", "0.28.0", "username_ref", "password_ref"),
	required("HTTP.authorization", "0.28.0", "credentials_ref"),
	required("HTTP.oauth2", "0.28.0", "client_secret_ref"),
	required("HTTP.oauth2", "0.30.0", "grant_type", "client_certificate_key", "client_certificate_key_file",
		"client_certificate_key_id", "client_certificate_key_ref", "signature_algorithm", "iss", "audience", "claims"),
	requiredTLS("HTTP.tls_config"), requiredTLS("HTTP.oauth2.tls_config"), requiredTLS("receivers[].email_configs[].tls_config"),
)

// required returns rules that reject a document with one of the keys.
func required(block, since string, keys ...string) (out []versionRule) {
	for _, key := range keys {
		out = append(out, versionRule{path: block + "." + key, since: since, do: fail})
	}
	return out
}

func requiredTLS(block string) []versionRule {
	return append(required(block, "0.26.0", "ca", "cert", "key"), required(block, "0.28.0", "ca_ref", "cert_ref", "key_ref")...)
}

var receiverRules = []versionRule{
	{path: "receivers[].labels", since: "0.33.0"},

	{path: "receivers[].email_configs[].auth_password_file", since: "0.25.0"},
	{path: "receivers[].email_configs[].force_implicit_tls", since: "0.31.0"},
	{path: "receivers[].email_configs[].auth_secret_file", since: "0.31.0"},
	{path: "receivers[].email_configs[].threading", since: "0.30.0"},
	{path: "receivers[].email_configs[].threading", do: fail, when: unknownThreading, why: "thread_by_date must be daily or none"},

	{path: "receivers[].opsgenie_configs[].actions", since: "0.24.0"},
	{path: "receivers[].opsgenie_configs[].entity", since: "0.24.0"},
	{path: "receivers[].opsgenie_configs[].update_alerts", since: "0.24.0"},
	{path: "receivers[].opsgenie_configs[].responders[].type", since: "0.24.0", do: fail, when: isText("teams"), why: `"teams" needs Alertmanager >= 0.24.0`},
	{path: "receivers[].opsgenie_configs[].api_key_file", since: "0.24.0"},
	{path: "receivers[].opsgenie_configs[].api_key_file", since: "0.25.0", do: fail, when: siblingThere("api_url"), why: "is refused beside api_url by Alertmanager 0.24"},

	{path: "receivers[].pagerduty_configs[].source", since: "0.25.0"},
	{path: "receivers[].pagerduty_configs[].routing_key_file", since: "0.25.0"},
	{path: "receivers[].pagerduty_configs[].service_key_file", since: "0.25.0"},
	{path: "receivers[].pagerduty_configs[].timeout", since: "0.30.0"},
	{path: "receivers[].pagerduty_configs[].details.*", since: "0.30.0", do: fail, when: notText, why: "must be a string before Alertmanager 0.30.0"},

	{path: "receivers[].pushover_configs[].user_key_file", since: "0.26.0"},
	{path: "receivers[].pushover_configs[].token_file", since: "0.26.0"},
	{path: "receivers[].pushover_configs[]", do: fail, when: without("user_key", "user_key_file"), why: "has no user_key"},
	{path: "receivers[].pushover_configs[]", do: fail, when: without("token", "token_file"), why: "has no token"},
	{path: "receivers[].pushover_configs[].ttl", since: "0.27.0"},
	{path: "receivers[].pushover_configs[].device", since: "0.26.0"},
	{path: "receivers[].pushover_configs[].monospace", since: "0.29.0"},

	{path: "receivers[].slack_configs[].timeout", since: "0.30.0"},
	{path: "receivers[].slack_configs[].app_token", since: "0.30.0"},
	{path: "receivers[].slack_configs[].app_token_file", since: "0.30.0"},
	{path: "receivers[].slack_configs[].app_url", since: "0.30.0"},
	{path: "receivers[].slack_configs[].message_text", since: "0.31.0"},
	{path: "receivers[].slack_configs[].update_message", since: "0.32.0"},
	{path: "receivers[].slack_configs[].update_message", do: fail, when: notUpdatable, why: "needs the api_url " + slackPostMessage},
	{path: "receivers[].slack_configs[].api_url_file", since: "0.22.0"},

	{path: "receivers[].victorops_configs[].api_key_file", since: "0.25.0"},

	{path: "receivers[].webhook_configs[].url", since: "0.31.0", do: fail, when: urlInTemplate, why: "a template needs Alertmanager >= 0.31.0"},
	{path: "receivers[].webhook_configs[].url_file", since: "0.26.0"},
	{path: "receivers[].webhook_configs[].timeout", since: "0.28.0"},
	{path: "receivers[].webhook_configs[].payload", since: "0.32.0"},

	{path: "receivers[].wechat_configs[].message_type", since: "0.22.0"},
	{path: "receivers[].wechat_configs[].api_secret_file", since: "0.31.0"},

	{path: "receivers[].sns_configs", since: "0.23.0", do: fail, when: notEmpty},
	{path: "receivers[].sns_configs[].sigv4.external_id", since: "0.31.0"},
	{path: "receivers[].sns_configs[].sigv4.external_id", do: fail, when: siblingMissing("role_arn"), why: "needs role_arn"},
	{path: "receivers[].sns_configs[].sigv4.use_fips_sts_endpoint", since: "0.29.0"},
	{path: "receivers[].sns_configs[].sigv4.service_name", since: "0.29.0"},
	{path: "receivers[].sns_configs[].use_aws_http_client", since: "0.33.0"},

	{path: "receivers[].telegram_configs", since: "0.24.0", do: fail, when: notEmpty},
	{path: "receivers[].telegram_configs[]", since: "0.25.0", do: fail, when: without("api_url"), why: "has no api_url; the global one needs Alertmanager >= 0.25.0"},
	{path: "receivers[].telegram_configs[].chat_id_file", since: "0.31.0"},
	{path: "receivers[].telegram_configs[]", do: fail, when: without("chat_id", "chat_id_file"), why: "has no chat_id"},
	{path: "receivers[].telegram_configs[].bot_token_file", since: "0.26.0"},
	{path: "receivers[].telegram_configs[]", since: "0.31.0", do: fail, when: without("bot_token", "bot_token_file"), why: "has no bot_token; the global one needs Alertmanager >= 0.31.0"},
	{path: "receivers[].telegram_configs[].message_thread_id", since: "0.28.0"},

	{path: "receivers[].discord_configs", since: "0.25.0", do: fail, when: notEmpty},
	{path: "receivers[].discord_configs[].webhook_url_file", since: "0.27.0"},
	{path: "receivers[].discord_configs[].content", since: "0.28.0"},
	{path: "receivers[].discord_configs[].username", since: "0.28.0"},
	{path: "receivers[].discord_configs[].avatar_url", since: "0.28.0"},

	{path: "receivers[].webex_configs", since: "0.25.0", do: fail, when: notEmpty},

	{path: "receivers[].msteams_configs", since: "0.26.0", do: fail, when: notEmpty},
	{path: "receivers[].msteams_configs[].webhook_url_file", since: "0.27.0"},
	{path: "receivers[].msteams_configs[].summary", since: "0.27.0"},
	{path: "receivers[].msteamsv2_configs", since: "0.28.0", do: fail, when: notEmpty},

	{path: "receivers[].jira_configs", since: "0.28.0", do: fail, when: notEmpty},
	{path: "receivers[].jira_configs[].summary", since: "0.30.0", do: fail, when: isMap, why: "must be a string before Alertmanager 0.30.0"},
	{path: "receivers[].jira_configs[].description", since: "0.30.0", do: fail, when: isMap, why: "must be a string before Alertmanager 0.30.0"},
	{path: "receivers[].jira_configs[].api_type", since: "0.29.0"},
	{path: "receivers[].jira_configs[].api_type", do: fail, when: isNoneOf("auto", "cloud", "datacenter"), why: "must be auto, cloud or datacenter"},

	{path: "receivers[].rocketchat_configs", since: "0.28.0", do: fail, when: notEmpty},

	{path: "receivers[].mattermost_configs", since: "0.30.0", do: fail, when: notEmpty},
	{path: "receivers[].mattermost_configs[]", since: "0.32.0", do: fail, when: without("webhook_url", "webhook_url_file"), why: "has no webhook_url; the global one needs Alertmanager >= 0.32.0"},
	{path: "receivers[].mattermost_configs[].fallback", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].color", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].pretext", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].author_name", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].author_link", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].author_icon", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].title", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].title_link", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].thumb_url", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].footer", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].footer_icon", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].image_url", since: "0.32.0"},
	{path: "receivers[].mattermost_configs[].fields", since: "0.32.0"},

	{path: "receivers[].incidentio_configs", since: "0.29.0", do: fail, when: notEmpty},
}

var inhibitRules = []versionRule{
	{path: "inhibit_rules[].name", since: "0.30.0"},
	{path: "inhibit_rules[].source_matchers", since: "0.22.0", do: fail, when: notEmpty},
	{path: "inhibit_rules[].source_matchers", since: "0.22.0"},
	{path: "inhibit_rules[].target_matchers", since: "0.22.0", do: fail, when: notEmpty},
	{path: "inhibit_rules[].target_matchers", since: "0.22.0"},
	{path: "inhibit_rules[].equal[]", since: "0.28.0", do: fail, when: notClassicName, why: "has a label name that Alertmanager reads since 0.28.0 only, and not in " + classicMode, classic: true},
	{path: "inhibit_rules[].source_matchers[]", since: "0.27.0", do: fail, when: notClassicMatcher, why: notClassic, classic: true},
	{path: "inhibit_rules[].target_matchers[]", since: "0.27.0", do: fail, when: notClassicMatcher, why: notClassic, classic: true},
}

var intervalRules = []versionRule{
	{path: "mute_time_intervals", since: "0.22.0"},
	{path: "time_intervals", since: "0.24.0"},
	{path: "mute_time_intervals[].time_intervals[].location", since: "0.25.0"},
	{path: "time_intervals[].time_intervals[].location", since: "0.25.0"},
}

var routeRules = []versionRule{
	{path: "ROUTE.matchers", since: "0.22.0", do: fail, when: notEmpty},
	{path: "ROUTE.matchers", since: "0.22.0"},
	{path: "ROUTE.mute_time_intervals", since: "0.22.0"},
	{path: "ROUTE.active_time_intervals", since: "0.24.0"},
	{path: "ROUTE.group_by[]", since: "0.27.0", do: fail, when: notClassicName, why: notClassic, classic: true},
	{path: "ROUTE.matchers[]", since: "0.27.0", do: fail, when: notClassicMatcher, why: notClassic, classic: true},
}

// legacyMatchers are deprecated in versions with lists of matchers.
var legacyMatchers = []string{
	"ROUTE.match", "ROUTE.match_re",
	"inhibit_rules[].source_match", "inhibit_rules[].source_match_re",
	"inhibit_rules[].target_match", "inhibit_rules[].target_match_re",
}

const (
	slackPostMessage = "https://slack.com/api/chat.postMessage"
	notClassic       = "has a label name that Alertmanager reads since 0.27.0 only, and not in " + classicMode
)

func notEmpty(_, v *yaml.Node) bool { return !isEmpty(v) }

func isMap(_, v *yaml.Node) bool { return v.Kind == yaml.MappingNode }

func isTrueNode(_, v *yaml.Node) bool {
	return slices.Contains([]string{"true", "yes", "on", "y"}, strings.ToLower(textOf(v)))
}

// notText reports whether a value is not written as a string. In a map of strings, older
// versions read numbers and booleans as text.
func notText(_, v *yaml.Node) bool { return v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" }

func isText(text string) func(_, v *yaml.Node) bool {
	return func(_, v *yaml.Node) bool { return strings.EqualFold(textOf(v), text) }
}

func isNoneOf(texts ...string) func(_, v *yaml.Node) bool {
	return func(_, v *yaml.Node) bool { return !slices.Contains(texts, textOf(v)) }
}

// without reports whether a map has none of the keys.
func without(keys ...string) func(_, v *yaml.Node) bool {
	return func(_, v *yaml.Node) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return textOf(get(v, key)) != "" })
	}
}

func siblingMissing(key string) func(parent, _ *yaml.Node) bool {
	return func(parent, _ *yaml.Node) bool { return textOf(get(parent, key)) == "" }
}

// belowMinVersion reports whether a TLS version is below min_version. The names of TLS
// versions sort in order.
func belowMinVersion(parent, v *yaml.Node) bool {
	lowest := textOf(get(parent, "min_version"))
	return lowest != "" && textOf(v) != "" && lowest > textOf(v)
}

func unknownThreading(_, v *yaml.Node) bool {
	return isNoneOf("daily", "none")(nil, get(v, "thread_by_date"))
}

func notUpdatable(parent, v *yaml.Node) bool {
	return isTrueNode(nil, v) && textOf(get(parent, "api_url")) != slackPostMessage
}

func notClassicName(_, v *yaml.Node) bool {
	return textOf(v) != allLabels && !model.LegacyValidation.IsValidLabelName(textOf(v))
}

func notClassicMatcher(_, v *yaml.Node) bool { return !classicMatcher(textOf(v)) }

func siblingThere(key string) func(parent, _ *yaml.Node) bool {
	return func(parent, _ *yaml.Node) bool { return textOf(get(parent, key)) != "" }
}

// urlInTemplate reports whether a value is a template that is not a URL before it is expanded.
func urlInTemplate(_, v *yaml.Node) bool {
	text := textOf(v)
	return isTemplate(text) && checkURL("", text) != nil
}
