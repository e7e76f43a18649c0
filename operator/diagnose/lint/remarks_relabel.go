package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// relabelled is the kind of item that relabel steps apply to.
type relabelled string

const (
	targets      relabelled = "target" // before the scrape
	samples      relabelled = "sample" // after the scrape
	sentSamples  relabelled = "sample that is sent"
	raisedAlerts relabelled = "alert"
)

// metrics reports whether the items have metric names.
func (r relabelled) metrics() bool { return r == samples || r == sentSamples }

// relabelRemarks reports lists of steps that drop everything or use labels that do not exist.
func relabelRemarks(say says, path string, steps []v1.RelabelConfig, what relabelled) {
	if what == targets {
		reservedRemarks(say, path, steps)
	} else {
		goneRemarks(say, path, steps, what)
	}
	before := newFilters(say, path, what)
	for i := range steps {
		s := &steps[i]
		field := fmt.Sprintf("%s[%d]", path, i)
		action := strings.ToLower(s.Action)
		labelsRemark(say, field, s, action, what)
		if sourcelessRemark(say, field, s, action, what) || separatorRemark(say, field, s, action, what) || dropAllRemark(say, field, s, action, what) {
			continue
		}
		if what == targets {
			addressRemark(say, field, s, action)
			portlessRemark(say, field, s, action)
			valueRemark(say, field, s, action, steps[:i])
		}
		groupRemark(say, field, s, action)
		before.add(i, s, action)
	}
}

// sourcelessRemark reports a step that needs source labels and has none. It returns true for steps that keep or drop.
func sourcelessRemark(say says, field string, s *v1.RelabelConfig, action string, what relabelled) bool {
	if len(s.SourceLabels) > 0 {
		return false
	}
	matches, known := matchesNothing(s.Regex)
	switch action {
	case "keep", "drop":
		effect := "drops every " + what
		if matches == (action == "keep") {
			effect = "drops no " + what
		}
		if known {
			say(field, "%s without sourceLabels looks at an empty value, so it %s; set sourceLabels%s", action, effect, nameOfMetric(what))
		}
		return true
	case "", "replace":
		if known && !matches {
			say(field+".regex", "is compared with an empty value, because sourceLabels is not set, and does not match it, so the step has no effect; set sourceLabels, or remove regex for all %ss", what)
		}
	}
	return false
}

// dropAllRemark reports a step that drops all items, and returns true for it.
func dropAllRemark(say says, field string, s *v1.RelabelConfig, action string, what relabelled) bool {
	named := what.metrics() && len(s.SourceLabels) == 1 && s.SourceLabels[0] == model.MetricNameLabel // which is never empty
	switch {
	case action != "drop":
		return false
	case s.Regex == "":
		say(field, "drop without regex, or with an empty one, which is the same, uses (.*) and drops every %s; set regex, for an empty value ^$", what)
	case s.Regex == ".*" || s.Regex == "(.*)" || named && (s.Regex == ".+" || s.Regex == "(.+)"):
		say(field, "drop with a regex that matches everything drops every %s; set regex", what)
	default:
		return false
	}
	return true
}

// groupOf matches a reference to a group of a regex, as Prometheus expands it.
var groupOf = lazyregexp.New(`\$\$|\$\{(\w+)\}|\$(\w+)`)

// otherGroup matches a reference to a group as other programs write it: escaped, or as sed does.
var otherGroup = lazyregexp.New(`\$\$(\d+|\{\w+\})|\\(\d)`)

// foreignGroup matches a reference to a group as languages for formats write it.
var foreignGroup = lazyregexp.New(`%(\d)\b|\{(\d)\}`)

// numberAndMore matches a number of a group and a text that became part of its name.
var numberAndMore = lazyregexp.New(`^(\d+)([A-Za-z_]\w*)$`)

// groupRemark reports a replacement with a group that the regex does not have, which is empty.
func groupRemark(say says, field string, s *v1.RelabelConfig, action string) {
	if action == "labelmap" && len(s.SourceLabels) > 0 {
		say(field+".sourceLabels", "has no effect with labelmap, which copies every label whose name the regex matches: for the value of one label write targetLabel, and no action")
		return
	}
	if s.Replacement == nil && action == "labelmap" && s.Regex != "" {
		if re := parsed(s.Regex); re != nil && len(re.CapNames()) == 1 {
			say(field+".regex", "has no group in parentheses, and replacement is $1 unless it is set, so that every label gets an empty name; put the part that stays into one, such as %s", withGroup(s.Regex))
		}
		return
	}
	if s.Replacement == nil || !strings.ContainsAny(*s.Replacement, "$\\%{") || action != "" && action != "replace" && action != "labelmap" {
		return
	}
	re := parsed(s.Regex)
	if re == nil {
		return
	}
	if m := otherGroup.FindStringSubmatch(*s.Replacement); m != nil {
		say(field+".replacement", "%s is not replaced by a group of the regex: write $%s", m[0], m[1]+m[2])
	}
	names := re.CapNames()
	if m := foreignGroup.FindStringSubmatch(*s.Replacement); m != nil && !strings.Contains(*s.Replacement, "$") {
		if n, _ := strconv.Atoi(m[1] + m[2]); n > 0 && n < len(names) {
			say(field+".replacement", "%s is not replaced by a group of the regex: write $%d", m[0], n)
		}
	}
	for _, m := range groupOf.Get().FindAllStringSubmatch(*s.Replacement, -1) {
		name := m[1] + m[2]
		n, err := strconv.Atoi(name)
		if name == "" || err == nil && n < len(names) || err != nil && slices.Contains(names, name) {
			continue
		}
		remedy := "the regex has none in parentheses"
		if part := numberAndMore.FindStringSubmatch(name); part != nil {
			remedy = fmt.Sprintf("write ${%s}%s", part[1], part[2])
		} else if len(names) > 1 {
			remedy = fmt.Sprintf("the regex has %d in parentheses", len(names)-1)
		}
		say(field+".replacement", "%s is always empty, because there is no group %s: %s", m[0], name, remedy)
	}
}

// withGroup returns a regex with its open end in a group.
func withGroup(regex string) string {
	for _, end := range []string{".*", ".+"} {
		if start, is := strings.CutSuffix(regex, end); is {
			return start + "(" + end + ")"
		}
	}
	return "(" + regex + ")"
}

// separatorRemark reports a regex that never matches, because the values of several source labels are
// joined with a separator that it cannot match.
func separatorRemark(say says, field string, s *v1.RelabelConfig, action string, what relabelled) bool {
	effect := map[string]string{"keep": "drops every " + string(what), "drop": "drops no " + string(what), "replace": "has no effect", "": "has no effect"}[action]
	separator := ";"
	if s.Separator != nil {
		separator = *s.Separator
	}
	if effect == "" || len(s.SourceLabels) < 2 {
		return false
	}
	re := parsed(s.Regex)
	if re == nil {
		return false
	}
	if specimen := noAddressAndPort(s, re, separator); specimen != "" {
		say(field+".regex", "the values of the source labels are joined with %q, such as %s, which the regex does not match, so the step %s; write ([^:]+)(?::\\d+)?%s(\\d+)", separator, specimen, effect, regexp.QuoteMeta(separator))
		return true
	}
	if !strings.ContainsFunc(separator, func(r rune) bool { return !mayContain(re, r) }) {
		return false
	}
	say(field+".regex", "the values of the %d source labels are joined with %q, and the regex matches nothing with it, so the step %s; write an expression for each label, with %s between them", len(s.SourceLabels), separator, effect, separator)
	return true
}

// nameOfMetric suggests the source label that is most often missing.
func nameOfMetric(what relabelled) string {
	if what.metrics() {
		return ": [__name__] for names of metrics"
	}
	return ""
}

// addressRemark reports a step that removes the address of every target.
func addressRemark(say says, field string, s *v1.RelabelConfig, action string) {
	const address = "__address__"
	gone := false
	switch action {
	case "labeldrop", "labelkeep":
		re, err := regexcost.Whole(s.Regex)
		gone = err == nil && s.Regex != "" && re.MatchString(address) == (action == "labeldrop")
	case "", "replace":
		gone = s.TargetLabel == address && s.Replacement != nil && *s.Replacement == "" && (s.Regex == "" || s.Regex == "(.*)" || s.Regex == ".*")
	}
	if gone {
		say(field, "removes __address__ from every target, and Prometheus drops targets without address")
	}
}

// labelsRemark reports labels that do not exist when the step runs, and steps that lose metric names.
func labelsRemark(say says, field string, s *v1.RelabelConfig, action string, what relabelled) {
	for i, label := range s.SourceLabels {
		switch {
		case what == targets && label == "__name__":
			say(fmt.Sprintf("%s.sourceLabels[%d]", field, i), "targets have no __name__%s; names of metrics are known after the scrape, in metricRelabelings", emptySource(s, action, what))
		case what != targets && strings.HasPrefix(string(label), "__meta_"):
			say(fmt.Sprintf("%s.sourceLabels[%d]", field, i), "labels __meta_… are gone after the scrape; %s", beforeScrape(what))
		}
	}
	if n := len(s.Regex); n > 2 && s.Regex[0] == '/' && s.Regex[n-1] == '/' && slices.Contains(s.SourceLabels, "__name__") {
		say(field+".regex", "matches names of metrics that begin and end with a slash, of which there are none; write %s", s.Regex[1:n-1])
	}
	if what.metrics() && (action == "keep" || action == "drop") && slices.Equal(s.SourceLabels, []v1.LabelName{"__name__"}) {
		all := shapesOf(parsed(s.Regex))
		if i := slices.IndexFunc(all, func(name shape) bool { return name.whole && strings.HasSuffix(name.text, "_") }); i >= 0 {
			say(field+".regex", "a regex matches the whole name, and no metric is called %[1]s: write %[1]s.*", all[i].text)
		}
		if why, meant := strayName(s.Regex, action); why != "" {
			say(field+".regex", "%s: write %s", why, meant)
		}
	}
	if part, meant := globIn(s.Regex); part != "" && action != "labelmap" {
		say(field+".regex", globWords, part, part[:len(part)-2], part[:len(part)-1], meant)
	}
	if what.metrics() && len(s.SourceLabels) == 1 && notTheName(s.SourceLabels[0], s.Regex) {
		effect := map[string]string{"keep": "drops every " + string(what), "drop": "drops no " + string(what)}[action]
		if effect != "" {
			say(field+".sourceLabels[0]", "the name of a metric is in __name__; label %s is another one, which samples mostly lack, so the step %s: write __name__", s.SourceLabels[0], effect)
		}
	}
	namelessRemark(say, field, s, action, what)
}

// beforeScrape returns what to do instead of using a label of discovery after the scrape.
func beforeScrape(what relabelled) string {
	if what == samples {
		return "use relabelings"
	}
	return fmt.Sprintf("each %s has the labels of its series, such as namespace and pod: use these, or keep the value in a label of its own by relabelings of the monitor", what)
}

// notTheName reports whether a label was probably meant as the name of a metric: it is __name__ misspelled, or it
// looks like it and is compared with what only names of metrics look like.
func notTheName(label v1.LabelName, regex string) bool {
	if label == model.MetricNameLabel {
		return false
	}
	switch strings.Trim(strings.ToLower(string(label)), "_") {
	case "name":
		if strings.HasPrefix(string(label), "_") {
			return true
		}
	case "metric", "metric_name", "metricname":
	default:
		return false
	}
	shapes := shapesOf(parsed(regex))
	return len(shapes) > 0 && !slices.ContainsFunc(shapes, func(s shape) bool { return !metricText.MatchString(s.text) })
}

// metricText matches the beginning of names of metrics: two words.
var metricText = lazyregexp.New(`^[a-z][a-z0-9]*_[a-z0-9_:]*$`)

// matchesNothing reports whether a regular expression matches the empty text.
func matchesNothing(text string) (matches, known bool) {
	if text == "" {
		return true, true // the default, (.*)
	}
	re, err := regexcost.Whole(text)
	return err == nil && re.MatchString(""), err == nil
}
