package reload

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// known are the error phrases that contain nothing of a configuration except line
// numbers. Everything else may be a value, and values may be secret (even a misplaced one
// where a field name is expected), so it is dropped. Each pattern also matches its own
// replacement, so that filtering is idempotent. They are compiled for the first error.
var known = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(`line (\d{1,8}): (?:field .{1,200}? not found in type|unknown field)`), "line $1: unknown field"},
		{regexp.MustCompile(`line (\d{1,8}): (?:cannot unmarshal (!![a-z]{1,10})\b[^\n]*? into |the value has the wrong type \((!![a-z]{1,10})\))`), "line $1: the value has the wrong type ($2$3)"},
		{regexp.MustCompile(`line (\d{1,8}): (?:did not find expected|invalid YAML)`), "line $1: invalid YAML"},
		{regexp.MustCompile(`line (\d{1,8}): (?:mapping key "[^"]*" already defined|duplicate key)`), "line $1: duplicate key"},
		{regexp.MustCompile(`found multiple scrape configs with job name|two scrape configurations have one job name`), "two scrape configurations have one job name"},
		{regexp.MustCompile(`found multiple remote write configs|two remote writes have one name`), "two remote writes have one name"},
		{regexp.MustCompile(`unknown service discovery type|unknown (?:auth|relabel) |it has a kind of value that this version does not support`), "it has a kind of value that this version does not support"},
		{regexp.MustCompile(`scrape timeout greater than scrape interval|a scrape timeout is greater than its interval`), "a scrape timeout is greater than its interval"},
		{regexp.MustCompile(`error loading rules|loading rule|a rule fails to load`), "a rule fails to load"},
		{regexp.MustCompile(`at most one of|two settings are mutually exclusive`), "two settings are mutually exclusive"},
		{regexp.MustCompile(`not a valid duration string|a duration is not valid`), "a duration is not valid"},
		{regexp.MustCompile(`error parsing regexp|invalid regexp value|a regular expression does not compile`), "a regular expression does not compile"},
		// Of Alertmanager, in addition to the above.
		{regexp.MustCompile(`failed to parse templates|a template does not parse`), "a template does not parse"},
		{regexp.MustCompile(`undefined receiver|a route names a receiver that does not exist`), "a route names a receiver that does not exist"},
		{regexp.MustCompile(`undefined (?:mute )?time interval|a route names a time interval that does not exist`), "a route names a time interval that does not exist"},
		{regexp.MustCompile(`notification config name "[^"]*" is not unique|two receivers have one name`), "two receivers have one name"},
		{regexp.MustCompile(`time interval "[^"]*" is not unique|two time intervals have one name`), "two time intervals have one name"},
		{regexp.MustCompile(`no routes? provided|there is no route`), "there is no route"},
		{regexp.MustCompile(`(root route must (?:specify a default receiver|not have any (?:matchers|mute time intervals|active time intervals))|cannot have continue in root route)`), "$1"},
		{regexp.MustCompile(`((?:group|repeat)_interval cannot be zero)`), "$1"},
		{regexp.MustCompile(`cannot have wildcard group_by|a group_by has the wildcard and other labels`), "a group_by has the wildcard and other labels"},
		{regexp.MustCompile(`duplicated label "[^"]*" in group_by|a group_by has a label twice`), "a group_by has a label twice"},
		{regexp.MustCompile(`invalid label name|a label name is not valid`), "a label name is not valid"},
		{regexp.MustCompile(`bad matcher format|matcher value (?:not valid UTF-8|contains unescaped)|a matcher does not parse`), "a matcher does not parse"},
		{regexp.MustCompile(`is not a valid (?:weekday|month|day of the (?:week|month))|couldn't parse (?:timestamp|range) |invalid timestamp format|` +
			`start time cannot be equal or greater than end time|both start and end times must be provided|a time interval is not valid`), "a time interval is not valid"},
		{regexp.MustCompile(`unsupported scheme "[^"]*" for URL|a URL has neither the scheme http nor https`), "a URL has neither the scheme http nor https"},
		{regexp.MustCompile(`(no global (?:SMTP (?:smarthost|from)|Slack App URL|PagerDuty URL|OpsGenie (?:URL|API Key)|Wechat (?:URL|Api Secret|CorpID)|` +
			`VictorOps (?:URL|API Key)|Webex URL|Jira Cloud URL|Rocketchat Token(?:ID)?) set)`), "$1"},
		{regexp.MustCompile(`(no Slack API URL nor App token set)`), "$1"},
		{regexp.MustCompile(`(missing (?:name in (?:receiver|time interval|mute time interval)|host for URL|to address in email config|` +
			`webex_configs\.http_config\.authorization|service or routing key in PagerDuty config|Routing key in VictorOps config))`), "$1"},
		// Of the operating system.
		{regexp.MustCompile(`no such file or directory`), "no such file or directory"},
		{regexp.MustCompile(`permission denied`), "permission denied"},
		{regexp.MustCompile(`no space left on device`), "no space left on device"},
		{regexp.MustCompile(`(gzip: invalid (?:header|checksum)|unexpected EOF)`), "$1"},
		{regexp.MustCompile(`[Ll]ifecycle API is not enabled`), "lifecycle API is not enabled"},
	}
})

// phrase is a part of an error message.
type phrase struct {
	pattern *regexp.Regexp
	text    string // replacement, with the groups of the pattern
}

// maxKnown is the maximum number of phrases from one message.
const maxKnown = 3

// Safe returns the phrases of an error message that cannot be a value of the
// configuration, or "" if there are none. The full message is where the configuration is:
// in the log of the reloader. Safe is idempotent.
func Safe(message string) string {
	var out []string
	for _, k := range known() {
		for _, at := range k.pattern.FindAllStringSubmatchIndex(message, maxKnown) {
			if len(out) < maxKnown {
				out = append(out, string(k.pattern.ExpandString(nil, k.text, message, at)))
			}
		}
	}
	return strings.Join(out, ", ")
}

const inLog = "(the log has the whole text)"

// public returns the text of an error for the endpoints. They are not authenticated, and
// error messages of a server may quote secrets of its configuration.
func public(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Said == "" {
			return e.Err.Error()
		}
		return e.Err.Error() + ": " + join(Safe(e.Said), inLog)
	}
	_, path := errors.AsType[*fs.PathError](err)
	_, errno := errors.AsType[syscall.Errno](err)
	if path || errno || Temporary(err) {
		return err.Error() // file names and system errors only
	}
	return join(Safe(err.Error()), inLog)
}

func join(words ...string) string {
	return strings.TrimSpace(strings.Join(words, " "))
}
