package amconfig

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/alertmanager/config"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// explained returns the errors of the loader about a text one by one, with line, path and probable correction.
func explained(text []byte, err error) []error {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return []error{err}
	}
	root := doc.Content[0]
	if other := otherFormat(root); other != nil {
		return []error{other}
	}
	objects, wrong := objectMatchers(root), shapesOf(root)
	var out []error
	for _, one := range single(err) {
		out = append(out, located(root, hinted(root, objects, wrong.named(one)))...)
	}
	return out
}

// otherFormat returns the error for a text that is not the configuration of an Alertmanager; nil if it may be one.
func otherFormat(root *yaml.Node) error {
	at := func(n *yaml.Node, format string, args ...any) error {
		return fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
	}
	const want = "want an object with route and receivers"
	switch {
	case root.Kind == yaml.ScalarNode && assets.EncodedTwice(root.Value):
		return at(root, "%s, got base64: %s", want, assets.TwiceEncoded)
	case root.Kind == yaml.ScalarNode && !isNull(root):
		return at(root, "%s, got text", want)
	case root.Kind == yaml.SequenceNode:
		return at(root, "%s, got a list", want)
	case get(root, "route") != nil || get(root, "receivers") != nil:
		return nil
	}
	switch kind := textOf(get(root, "kind")); {
	case kind == "AlertmanagerConfig":
		return at(root, "%s, got an AlertmanagerConfig, which is an object of its own: apply it, and select it with alertmanagerConfigSelector, or name it in alertmanagerConfiguration", want)
	case kind != "" && get(root, "apiVersion") != nil:
		return at(root, "%s, got a manifest", want)
	}
	for _, path := range [][]string{{"alertmanager", "config"}, {"config"}, {"alertmanager", "alertmanagerConfig"}, {"alertmanager.yaml"}, {"alertmanager.yml"}} {
		below := root
		for _, key := range path {
			below = get(below, key)
		}
		if get(below, "route") != nil || get(below, "receivers") != nil {
			return at(root, "%s; write only what is below %s", want, strings.Join(path, "."))
		}
	}
	return nil
}

// severalFaults begins an error of the YAML library about values.
const severalFaults = "yaml: unmarshal errors:\n  "

// single returns the errors that an error of the loader consists of, each without line breaks and types of Go.
func single(err error) (out []error) {
	before, all, several := strings.Cut(err.Error(), severalFaults)
	if !several {
		return []error{err}
	}
	for text := range strings.SplitSeq(all, "\n  ") {
		if len(out) == faults.Most {
			break
		}
		text = wrongType.ReplaceAllStringFunc(before+text, func(found string) string {
			return "got " + yamlTypes[wrongType.FindStringSubmatch(found)[1]] + " where another value belongs"
		})
		out = append(out, errors.New(noField.ReplaceAllStringFunc(text, unknownField)))
	}
	return out
}

// wrongType matches the words of the loader for a value of another type. Values of texts are hidden.
var wrongType = lazyregexp.New(`cannot unmarshal (!!map|!!seq) into \S+`)

var yamlTypes = map[string]string{"!!map": "an object", "!!seq": "a list"}

// noField matches the words of the loader for an unknown field.
var noField = lazyregexp.New(`field (\S+) not found in type \S+`)

// hinted adds to an error the probable cause: a matcher that is an object or is not one, a duration without a unit, or a name
// that is null.
//
// objects: the matchers that are objects, by line. The one that the error is about is removed.
func hinted(root *yaml.Node, objects map[string][]manifest.Node, err error) error {
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		if list := objects[m[1]]; len(list) > 0 && strings.Contains(err.Error(), "got an object") {
			n := list[0]
			objects[m[1]] = list[1:]
			what := "a string: write '%s', the whole in quotes"
			if !strings.HasSuffix(n.Path, "]") {
				what = "a list of strings: write ['%s']"
			}
			err = fmt.Errorf("%w; %s is "+what, err, n.Path, matcherOf(n.Node))
		}
		return err
	}
	if m := badMatcher.FindStringSubmatch(err.Error()); m != nil {
		if parts := likeMatcher.FindStringSubmatch(m[1]); parts != nil {
			return fmt.Errorf("%w; write %s=%q", err, parts[1], parts[2])
		}
	}
	if m := unitless.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%w; write %ss", err, m[1])
	}
	if !nullFault.MatchString(err.Error()) {
		return err
	}
	for n := range scalars(root) {
		if isNull(n.Node) && nullable.MatchString(n.Path) {
			return fmt.Errorf("line %d: %s: %w; null is no value in YAML: write 'null' with quotes for this name", n.Line, n.Path, err)
		}
	}
	return err
}

// objectMatchers returns the matchers that are objects instead of strings or a list of them, by line.
func objectMatchers(root *yaml.Node) map[string][]manifest.Node {
	out := map[string][]manifest.Node{}
	for n := range manifest.Nodes("", root) {
		if n.Kind == yaml.MappingNode && len(n.Content) > 0 && matchersOf.MatchString(n.Path) && !redact.InError(n.Path) {
			line := strconv.Itoa(n.Line)
			out[line] = append(out[line], n)
		}
	}
	return out
}

// matcherOf returns the matcher that an object is meant to be: {severity: critical}, or the form of an AlertmanagerConfig.
func matcherOf(n *yaml.Node) string {
	name, operator, value := n.Content[0].Value, "=", n.Content[1]
	if given := textOf(get(n, "name")); given != "" {
		name, value = given, get(n, "value")
		if kind := textOf(get(n, "matchType")); slices.Contains([]string{"!=", "=~", "!~"}, kind) {
			operator = kind
		} else if textOf(get(n, "regex")) == "true" {
			operator = "=~"
		}
	}
	if value == nil || value.Kind != yaml.ScalarNode {
		return name + operator + `"…"`
	}
	return name + operator + strconv.Quote(value.Value)
}

var (
	badMatcher  = lazyregexp.New(`bad matcher format: (.*)$`)
	likeMatcher = lazyregexp.New(`^\s*([a-zA-Z_]\w*)\s*(?::|==)\s*"?([^"]*)"?\s*$`)
	unitless    = lazyregexp.New(`not a valid duration string: "(\d{1,9})"$`)
	inMatchers  = lazyregexp.New(`matchers\[\d+\]$`)
	matchersOf  = lazyregexp.New(`matchers(\[\d+\])?$`)
	nullable    = lazyregexp.New(`\b(name|receiver)$`)
	nullFault   = lazyregexp.New(`missing name in receiver|must specify a default receiver|undefined receiver`)
)

// unknownField describes an unknown field, with a similar one that exists.
func unknownField(found string) string {
	name := noField.FindStringSubmatch(found)[1]
	if meant := manifest.Similar(name, fileKeys()); meant != "" {
		return fmt.Sprintf("unknown field %s, did you mean %s?", name, meant)
	}
	return "unknown field " + name
}

// fileKeys returns all keys of a configuration.
var fileKeys = sync.OnceValue(func() []string {
	keys := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for f := range t.Fields() {
				if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
					keys[name] = true
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[config.Config]())
	return slices.Sorted(maps.Keys(keys))
})

// quotedValue matches the value that an error of the loader is about.
var quotedValue = lazyregexp.New(`"([^"]+)"`)

// located adds line and path to an error without a line: those of the objects that lack the missing field, or
// of the value that the error quotes. If there are none, the error is unchanged.
func located(root *yaml.Node, err error) (out []error) {
	if lineNumber.MatchString(err.Error()) {
		return []error{err}
	}
	reason := receiverIndex.ReplaceAllString(err.Error(), "") // the path has it
	for _, lack := range lacks {
		if !strings.Contains(err.Error(), lack.says) {
			continue
		}
		for n := range manifest.Nodes("", root) {
			if len(out) < faults.Most && n.Kind == yaml.MappingNode && lack.in == lastKey(n.Path) && !hasAny(n.Node, lack.fields) {
				out = append(out, fmt.Errorf("line %d: %s: %s%s", n.Line, n.Path, reason, lack.hint()))
			}
		}
		break
	}
	if out = append(out, unquoted(root, reason)...); len(out) > 0 {
		return out
	}
	excluding := exclude.FindStringSubmatch(reason)
	invalid := strings.Contains(reason, "error parsing regexp: ")
	for n := range manifest.Nodes("", root) {
		if excluding != nil && get(n.Node, excluding[1]) != nil && get(n.Node, excluding[2]) != nil || invalid && invalidRegexp(n, reason) {
			return []error{fmt.Errorf("line %d: %s: %s", n.Line, n.Path, reason)}
		}
	}
	for _, quote := range quotes {
		for _, m := range quote.says.Get().FindAllStringSubmatch(err.Error(), 2) {
			if n := quoted(root, m[1], quote.path, quote.last); n.Node != nil {
				return []error{fmt.Errorf("line %d: %s: %s%s", n.Line, n.Path, reason, besideReceiver(root, m))}
			}
		}
	}
	return []error{err}
}

// quoted returns the scalar with a value, at a path if it is given. Without a path there must be only one.
func quoted(root *yaml.Node, value string, path *lazyregexp.Regexp, last bool) (out manifest.Node) {
	for n := range scalars(root) {
		switch {
		case n.Value != value || path != nil && !path.MatchString(n.Path):
		case out.Node == nil || last:
			out = n
		case path == nil:
			return manifest.Node{}
		}
	}
	return out
}

// besideReceiver returns the receiver that is meant by one that is undefined, as the end of a message.
//
// m: the match of an error, with the name.
func besideReceiver(root *yaml.Node, m []string) string {
	if !strings.HasPrefix(m[0], "undefined receiver") {
		return ""
	}
	if m[1] == "null" {
		return "; add - name: 'null' to receivers, which discards its alerts"
	}
	var known []string
	for _, receiver := range elementsOf(get(root, string(Receivers))) {
		known = append(known, textOf(get(receiver, "name")))
	}
	return manifest.Beside(m[1], known)
}

// invalidRegexp reports whether a value is the regular expression that an error is about.
func invalidRegexp(n manifest.Node, reason string) bool {
	text := n.Value
	if m := regexMatcher.FindStringSubmatch(text); m != nil && inMatchers.MatchString(n.Path) {
		text = m[1]
	} else if !inMatchRegexp.MatchString(n.Path) {
		return false
	}
	_, invalid := syntax.Parse("^(?:"+text+")$", syntax.Perl)
	return invalid != nil && strings.Contains(reason, invalid.Error())
}

var (
	exclude       = lazyregexp.New(`at most one of (\w+) & (\w+) must be configured`)
	regexMatcher  = lazyregexp.New(`^[^=~]*[=!]~\s*"?(.*?)"?\s*$`)
	inMatchRegexp = lazyregexp.New(`match_re\.[^.]+$`)
)

// quotes are errors that quote a value, and the paths where it may be. Without a path, the value must occur only once; the
// last one is meant if it must be unique.
var quotes = []struct {
	says, path *lazyregexp.Regexp
	last       bool
}{
	{lazyregexp.New(`undefined receiver "([^"]+)"`), lazyregexp.New(`\breceiver$`), false},
	{lazyregexp.New(`undefined time interval "([^"]+)"`), lazyregexp.New(`_time_intervals\[\d+\]$`), false},
	{lazyregexp.New(`notification config name "([^"]+)" is not unique`), lazyregexp.New(`^receivers\[\d+\]\.name$`), true},
	{lazyregexp.New(`time interval "([^"]+)" is not unique`), lazyregexp.New(`^(mute_)?time_intervals\[\d+\]\.name$`), true},
	{lazyregexp.New(`bad matcher format: (.*?)(?:; write .*)?$`), inMatchers, false},
	{quotedValue, nil, false},
}

// receiverIndex matches the receiver that [explainBase] adds.
var receiverIndex = lazyregexp.New(`receivers\[\d+\]: `)

// lastKey returns the last key of a path and, of an item of a list, its list: "slack_configs[]".
func lastKey(path string) string {
	item := strings.HasSuffix(path, "]")
	if item {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	path = path[strings.LastIndexByte(path, '.')+1:]
	if item {
		path += "[]"
	}
	return path
}

// lacking is an error about a setting that is missing.
type lacking struct {
	says   string
	in     string   // last key of the path of the object that lacks it
	fields []string // any of them is enough
	global string   // the global setting that is enough too
}

// hasAny reports whether an object has one of some fields, or may have it from another one.
func hasAny(object *yaml.Node, fields []string) bool {
	return get(object, "<<") != nil || slices.ContainsFunc(fields, func(key string) bool {
		value := get(object, key)
		return value != nil && (value.Kind != yaml.ScalarNode || value.Value != "")
	})
}

// hint returns what to write.
func (l *lacking) hint() string {
	hint := "; set " + l.fields[0]
	if l.global != "" {
		hint += ", or global." + l.global
	}
	return hint
}

var lacks = []lacking{
	{"no Slack API URL nor App token set", "slack_configs[]", []string{"api_url", "api_url_file", "app_token", "app_token_file"}, "slack_api_url"},
	{"no global SMTP smarthost set", "email_configs[]", []string{"smarthost"}, "smtp_smarthost"},
	{"no global SMTP from set", "email_configs[]", []string{"from"}, "smtp_from"},
	{"missing to address in email config", "email_configs[]", []string{"to"}, ""},
	{"missing service or routing key in PagerDuty config", "pagerduty_configs[]", []string{"routing_key", "routing_key_file", "service_key", "service_key_file"}, ""},
	{"no global OpsGenie API Key set", "opsgenie_configs[]", []string{"api_key", "api_key_file"}, "opsgenie_api_key"},
	{"no global Wechat Api Secret set", "wechat_configs[]", []string{"api_secret", "api_secret_file"}, "wechat_api_secret"},
	{"no global Wechat CorpID set", "wechat_configs[]", []string{"corp_id"}, "wechat_api_corp_id"},
	{"no global VictorOps API Key set", "victorops_configs[]", []string{"api_key", "api_key_file"}, "victorops_api_key"},
	{"missing Routing key in VictorOps config", "victorops_configs[]", []string{"routing_key"}, ""},
	{"missing bot_token or bot_token_file on telegram_config", "telegram_configs[]", []string{"bot_token", "bot_token_file"}, "telegram_bot_token"},
	{"missing chat_id or chat_id_file on telegram_config", "telegram_configs[]", []string{"chat_id", "chat_id_file"}, ""},
	{"no discord webhook URL or URLFile provided", "discord_configs[]", []string{"webhook_url", "webhook_url_file"}, ""},
	{"no msteams webhook URL or URLFile provided", "msteams_configs[]", []string{"webhook_url", "webhook_url_file"}, ""},
	{"no msteamsv2 webhook URL or URLFile provided", "msteamsv2_configs[]", []string{"webhook_url", "webhook_url_file"}, ""},
	{"no global Jira Cloud URL set", "jira_configs[]", []string{"api_url"}, "jira_api_url"},
	{"no global Rocketchat TokenID set", "rocketchat_configs[]", []string{"token_id", "token_id_file"}, "rocketchat_token_id"},
	{"no global Rocketchat Token set", "rocketchat_configs[]", []string{"token", "token_file"}, "rocketchat_token"},
	{"missing webhook_url or webhook_url_file on mattermost_config", "mattermost_configs[]", []string{"webhook_url", "webhook_url_file"}, "mattermost_webhook_url"},
	{"one of url or url_file must be configured", "webhook_configs[]", []string{"url", "url_file"}, ""},
	{"one of user_key or user_key_file must be configured", "pushover_configs[]", []string{"user_key", "user_key_file"}, ""},
	{"one of token or token_file must be configured", "pushover_configs[]", []string{"token", "token_file"}, ""},
	{"missing name in receiver", "receivers[]", []string{"name"}, ""},
	{"root route must specify a default receiver", "route", []string{"receiver"}, ""},
}
