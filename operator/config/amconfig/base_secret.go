package amconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// SecretKey is the key of the user's Secret that holds the configuration.
const SecretKey = "alertmanager.yaml"

// defaultConfig is used when the user gives none: it discards every notification.
const defaultConfig = `route:
  receiver: 'null'
receivers:
- name: 'null'`

// SecretName is the name of the user's Secret with the configuration.
func SecretName(am *v1.Alertmanager) string {
	return cmp.Or(am.Spec.ConfigSecret, "alertmanager-"+am.Name)
}

// compileSecretBase reads the user's Secret; a missing or empty configuration is the default.
//
// asIs: take what is there without looking at it.
func compileSecretBase(am *v1.Alertmanager, t gate.Target, asIs bool, scope *assets.Scope) (Frame, error) {
	name := SecretName(am)
	values, err := scope.Mounted(assets.Secret, name)
	if err != nil && !assets.IsNotFound(err) {
		return Frame{}, fmt.Errorf("spec.configSecret: %w", err)
	}
	text := values[SecretKey]
	if len(text) == 0 {
		text = []byte(defaultConfig)
	}
	extra := maps.Clone(values)
	delete(extra, SecretKey)
	if asIs {
		return Frame{Raw: text, Extra: extra}, nil
	}
	f, err := parseBase(text, t)
	if err != nil {
		return Frame{}, fmt.Errorf("%s: key %q: %w",
			assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: name}, SecretKey, err)
	}
	f.Extra = extra
	return f, nil
}

// parseBase checks a configuration with Alertmanager's loader, removes what the target does
// not know and cuts it into its parts. Keys that this package does not know stay.
//
// Errors have no secret of the configuration in them.
func parseBase(text []byte, t gate.Target) (f Frame, err error) {
	root, treeErr := parseTree(text)
	if err := checkBaseRegexps(root, new(regexcost.Budget)); err != nil {
		return f, err
	}
	if err := load(text); err != nil {
		return f, explainBase(text, err)
	}
	if treeErr != nil {
		return f, treeErr
	}
	dropNullGlobals(root)
	dropped, warnings, err := sanitize(root, t)
	if err != nil {
		return f, err
	}
	globals := globalsOf(root)
	if f, err = newFrame(root); err != nil {
		return f, err
	}
	f.Globals, f.Dropped, f.Warnings = globals, dropped, warnings
	whole := document(&f, nil)
	if err := load(whole); err != nil {
		return f, fmt.Errorf("without what Alertmanager %s does not know: %w", t.Version, explainBase(whole, err))
	}
	return f, nil
}

// dropNullGlobals makes a null global setting one that is not set. Alertmanager would
// have no default for it, and receivers of AlertmanagerConfigs count on those.
func dropNullGlobals(root *yaml.Node) {
	global := get(root, "global")
	if global == nil || global.Kind != yaml.MappingNode {
		return
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(global.Content); i += 2 {
		if !isNull(global.Content[i+1]) {
			kept = append(kept, global.Content[i], global.Content[i+1])
		}
	}
	global.Content = kept
}

// globalsOf reads what the global section of a user's document gives.
func globalsOf(root *yaml.Node) (out Globals) {
	global := get(root, "global")
	given := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return textOf(get(global, key)) != "" })
	}
	out = Globals{
		SMTPFrom:          given("smtp_from"),
		SMTPSmarthost:     given("smtp_smarthost"),
		SlackURL:          given("slack_api_url", "slack_api_url_file"),
		SlackAppToken:     given("slack_app_token", "slack_app_token_file"),
		OpsGenieKey:       given("opsgenie_api_key", "opsgenie_api_key_file"),
		VictorOpsKey:      given("victorops_api_key", "victorops_api_key_file"),
		WeChatSecret:      given("wechat_api_secret", "wechat_api_secret_file"),
		WeChatCorpID:      given("wechat_api_corp_id"),
		TelegramToken:     given("telegram_bot_token", "telegram_bot_token_file"),
		MattermostURL:     given("mattermost_webhook_url", "mattermost_webhook_url_file"),
		RocketChatToken:   given("rocketchat_token", "rocketchat_token_file"),
		RocketChatTokenID: given("rocketchat_token_id", "rocketchat_token_id_file"),
		Jira:              given("jira_api_url"),
		HTTPAuthorization: get(get(global, "http_config"), "authorization") != nil,
		Taken:             takenNames(root),
	}
	return out
}

// takenNames are the names that an AlertmanagerConfig could have too.
func takenNames(root *yaml.Node) string {
	var names []string
	for _, key := range []string{"receivers", "mute_time_intervals", "time_intervals"} {
		for _, item := range elementsOf(get(root, key)) {
			if name := textOf(get(item, "name")); maybePrefixed(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// explainBase says why the loader refuses a user's document, and which receiver is at fault
// if it is one.
func explainBase(text []byte, refused error) error {
	root, parseErr := parseTree(text)
	if parseErr == nil && errors.Is(refused, errPanics) {
		return fmt.Errorf("%w at a null: %s", errPanics, strings.Join(nullsOf(root), ", "))
	}
	err := explain(text, refused, hiddenInBase)
	if parseErr != nil || strings.HasPrefix(err.Error(), string(Receivers)+"[") {
		return err
	}
	none := scalar("none")
	if loadWithReceiver(root, none, list(mapping("name", none))) != nil {
		return err // it is the global section
	}
	for i, receiver := range elementsOf(get(root, string(Receivers))) {
		if name := get(receiver, "name"); name != nil && loadWithReceiver(root, name, list(receiver)) != nil {
			return fmt.Errorf("receivers[%d]: %w", i, err)
		}
	}
	return err
}

// nullsOf are the paths of the first nulls of a document.
func nullsOf(root *yaml.Node) (paths []string) {
	const most = 5
	walkScalars(root, "", func(path string, n *yaml.Node) {
		if isNull(n) && len(paths) < most {
			paths = append(paths, path)
		}
	})
	return paths
}

// loadWithReceiver loads the global section of a document with one receiver.
func loadWithReceiver(root, name, receivers *yaml.Node) error {
	small := mapping("route", mapping("receiver", name), string(Receivers), receivers)
	if global := get(root, "global"); global != nil {
		small.Content = append(small.Content, scalar("global"), global)
	}
	return loadTree(small)
}

// shownInBase are keys whose values are no secrets, wherever they are.
var shownInBase = map[string]bool{
	"name": true, "resolve_timeout": true, "timeout": true, "retry": true, "expire": true, "ttl": true,
	"send_resolved": true, "require_tls": true, "smtp_require_tls": true, "max_alerts": true, "message_type": true,
	"api_type": true, "parse_mode": true, "min_version": true, "max_version": true, "region": true,
	"thread_by_date": true, "follow_redirects": true, "enable_http2": true, "insecure_skip_verify": true,
}

// hiddenInBase reports what errors about a user's document do not quote: all but routes,
// inhibition rules, time intervals, names, and a few settings that are no secrets.
func hiddenInBase(path, _ string) bool {
	section, _, _ := strings.Cut(path, ".")
	section, _, _ = strings.Cut(section, "[")
	switch section {
	case "route", "inhibit_rules", "mute_time_intervals", "time_intervals", "templates":
		return false
	}
	return !shownInBase[path[strings.LastIndexByte(path, '.')+1:]]
}
