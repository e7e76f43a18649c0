package amconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// defaultConfig is used without a user-supplied configuration. It discards all notifications.
const defaultConfig = `route:
  receiver: 'null'
receivers:
- name: 'null'`

// compileSecretBase compiles the frame from the user's Secret, falling back to the default if
// the configuration is missing or empty.
//
// asIs: use the content without parsing it.
func compileSecretBase(am *v1.Alertmanager, t gate.Target, asIs bool, scope *assets.Scope) (Frame, error) {
	name := am.ConfigSecretName()
	values, err := scope.Mounted(assets.Secret, name)
	if err != nil && !assets.IsNotFound(err) {
		return Frame{}, faults.At("spec.configSecret", err)
	}
	text := values[v1.AlertmanagerConfigKey]
	if len(text) == 0 {
		text = []byte(defaultConfig)
	}
	extra := maps.Clone(values)
	delete(extra, v1.AlertmanagerConfigKey)
	if asIs {
		return Frame{Raw: text, Extra: extra}, nil
	}
	f, err := parseBase(text, t, dialectOf(am, t))
	if err != nil {
		return Frame{}, contentFault(am, text, err)
	}
	f.Extra = extra
	return f, nil
}

// lineOf matches the line of a fault.
var lineOf = lazyregexp.New(`\bline (\d+):`)

// contentFault returns the faults of a configuration in the Secret of an Alertmanager, with their lines as
// [assets.ContentError] if those are known.
func contentFault(am *v1.Alertmanager, text []byte, err error) error {
	ref := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	var all faults.List
	for _, one := range explained(text, err) {
		one = fmt.Errorf("%s: key %q: %w", ref, v1.AlertmanagerConfigKey, one)
		out := faults.Of(faults.At("spec.configSecret", one))[0]
		if m := lineOf.FindStringSubmatch(out.Reason); m != nil {
			line, _ := strconv.Atoi(m[1]) // valid by the regular expression, 0 if out of range
			out.Cause = &assets.ContentError{Ref: ref, Key: v1.AlertmanagerConfigKey, Line: line, Err: one}
		}
		all.Add("", &out)
	}
	return all.Err()
}

// parseBase checks a configuration with Alertmanager's loader, removes keys that the target
// does not support, and splits it into parts. Unknown keys are kept.
//
// Errors do not contain secrets of the configuration.
func parseBase(text []byte, t gate.Target, labels dialect) (f Frame, err error) {
	root, treeErr := parseTree(text)
	if err := CheckRegexps(root, new(regexcost.Budget)); err != nil {
		return f, err
	}
	if err := checkNullConfigs(root); err != nil {
		return f, err
	}
	if err := load(text); err != nil {
		return f, explainBase(text, err)
	}
	if treeErr != nil {
		return f, treeErr
	}
	dropNullGlobals(root)
	dropped, warnings, err := sanitize(root, t, labels)
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

// checkNullConfigs rejects integrations that are null, at which Alertmanager crashes. The loader finds only some of them.
func checkNullConfigs(root *yaml.Node) error {
	for i, receiver := range elementsOf(get(root, string(Receivers))) {
		for _, list := range children(site{path: faults.Index(string(Receivers), i), value: receiver}) {
			if !strings.HasSuffix(list.key, "_configs") {
				continue
			}
			if j := slices.IndexFunc(elementsOf(list.value), isNull); j >= 0 {
				return faults.At(faults.Index(list.path, j), errors.New("is null: write its settings, or remove the dash"))
			}
		}
	}
	return nil
}

// dropNullGlobals removes global settings that are null. Alertmanager has no default for
// these, but receivers of AlertmanagerConfigs rely on the defaults.
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

// globalsOf returns which global settings a user-supplied document provides.
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

// takenNames returns the names that may conflict with those of an AlertmanagerConfig.
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

// explainBase returns why the loader rejects a user-supplied document, including the receiver
// if that is the cause.
func explainBase(text []byte, refused error) error {
	root, parseErr := parseTree(text)
	if parseErr == nil && errors.Is(refused, errPanics) {
		return explainPanic(root)
	}
	err := explain(text, refused, func(path, _ string) bool { return redact.InError(path) })
	if parseErr != nil || strings.HasPrefix(err.Error(), string(Receivers)+"[") {
		return err
	}
	none := scalar("none")
	if loadWithReceiver(root, none, list(mapping("name", none))) != nil {
		return err // the cause is in the global section
	}
	for i, receiver := range elementsOf(get(root, string(Receivers))) {
		name := get(receiver, "name")
		if name == nil {
			continue
		}
		if alone := loadWithReceiver(root, name, list(receiver)); alone != nil && sameFault(alone, refused) {
			return faults.At(faults.Index("receivers", i), err)
		}
	}
	return err
}

// explainPanic returns why the loader panics on a document, as a server with it does.
func explainPanic(root *yaml.Node) error {
	for i, receiver := range elementsOf(get(root, string(Receivers))) {
		for j, slack := range elementsOf(get(receiver, "slack_configs")) {
			if get(slack, "api_url") == nil && isTrueNode(nil, get(slack, "update_message")) {
				path := fmt.Sprintf("receivers[%d].slack_configs[%d].update_message", i, j)
				return faults.At(path, errors.New("needs an api_url beside it: "+slackPostMessage))
			}
		}
	}
	if nulls := nullsOf(root); len(nulls) > 0 {
		return fmt.Errorf("%w at a null: %s", errPanics, strings.Join(nulls, ", "))
	}
	return errPanics
}

// sameFault reports whether two errors of the loader have the same first reason, independent of the line.
func sameFault(a, b error) bool {
	reason := func(err error) string {
		text := strings.TrimPrefix(err.Error(), severalFaults)
		text, _, _ = strings.Cut(text, "\n")
		return lineNumber.ReplaceAllString(text, "line")
	}
	return reason(a) == reason(b)
}

// nullsOf returns the paths of the first nulls in a document.
func nullsOf(root *yaml.Node) (paths []string) {
	const most = 5
	for n := range scalars(root) {
		if isNull(n.Node) && len(paths) < most {
			paths = append(paths, n.Path)
		}
	}
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
