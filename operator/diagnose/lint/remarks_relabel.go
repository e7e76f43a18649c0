package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

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
	kept := map[string]keep{} // by source labels and separator
	for i := range steps {
		s := &steps[i]
		field := fmt.Sprintf("%s[%d]", path, i)
		action := strings.ToLower(s.Action)
		labelsRemark(say, field, s, action, what)
		if len(s.SourceLabels) == 0 && (action == "keep" || action == "drop") {
			effect := "drops every " + what
			if matches, known := matchesNothing(s.Regex); !known {
				continue
			} else if matches == (action == "keep") {
				effect = "drops no " + what
			}
			say(field, "%s without sourceLabels looks at an empty value, so it %s; set sourceLabels%s", action, effect, nameOfMetric(what))
			continue
		}
		if action == "drop" && (s.Regex == "" || s.Regex == ".*" || s.Regex == "(.*)") {
			say(field, "drop with a regex that matches everything drops every %s; set regex", what)
			continue
		}
		if what == targets {
			addressRemark(say, field, s, action)
		}
		if s.TargetLabel != "" || action == "labelmap" || action == "labeldrop" || action == "labelkeep" {
			for key, k := range kept { // the step may change the label
				if s.TargetLabel == "" || slices.Contains(k.sources, v1.LabelName(s.TargetLabel)) {
					delete(kept, key)
				}
			}
			continue
		}
		words, literal := literals(s.Regex)
		if action != "keep" || !literal {
			continue
		}
		key := fmt.Sprint(s.SourceLabels, valueOr(s.Separator))
		if before, again := kept[key]; again && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(before.words, w) }) {
			all := strings.Join(append(slices.Clone(before.words), words...), "|")
			say(field, "keep after keep (%s[%d]) on %s with nothing in common drops every %s; write one step with regex: %s", path, before.at, joined(s.SourceLabels), what, all)
		}
		kept[key] = keep{s.SourceLabels, words, i}
	}
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
		re, err := regexcost.Compile("^(?s:" + s.Regex + ")$")
		gone = err == nil && s.Regex != "" && re.MatchString(address) == (action == "labeldrop")
	case "", "replace":
		gone = s.TargetLabel == address && s.Replacement != nil && *s.Replacement == "" && (s.Regex == "" || s.Regex == "(.*)" || s.Regex == ".*")
	}
	if gone {
		say(field, "removes __address__ from every target, and Prometheus drops targets without address")
	}
}

// keep is an earlier keep step.
type keep struct {
	sources []v1.LabelName
	words   []string
	at      int
}

// labelsRemark reports labels that do not exist when the step runs, and steps that lose metric names.
func labelsRemark(say says, field string, s *v1.RelabelConfig, action string, what relabelled) {
	for i, label := range s.SourceLabels {
		switch {
		case what == targets && label == "__name__":
			say(fmt.Sprintf("%s.sourceLabels[%d]", field, i), "targets have no __name__; names of metrics are known after the scrape, in metricRelabelings")
		case what != targets && strings.HasPrefix(string(label), "__meta_"):
			say(fmt.Sprintf("%s.sourceLabels[%d]", field, i), "labels __meta_… are gone after the scrape; use relabelings")
		}
	}
	if n := len(s.Regex); n > 2 && s.Regex[0] == '/' && s.Regex[n-1] == '/' && slices.Contains(s.SourceLabels, "__name__") {
		say(field+".regex", "matches names of metrics that begin and end with a slash, of which there are none; write %s", s.Regex[1:n-1])
	}
	if what != samples || s.Regex == "" {
		return
	}
	re, err := regexcost.Compile("^(?s:" + s.Regex + ")$")
	if err == nil && (action == "labeldrop" && re.MatchString("__name__") || action == "labelkeep" && !re.MatchString("__name__")) {
		remedy := "keep it with regex: __name__|" + s.Regex
		if action == "labeldrop" {
			remedy = "write a regex that does not match __name__"
		}
		say(field, "%s takes the name of the metric (__name__) away from every sample, and then each scrape fails; %s", action, remedy)
	}
}

// matchesNothing reports whether a regular expression matches the empty text.
func matchesNothing(text string) (matches, known bool) {
	if text == "" {
		return true, true // the default, (.*)
	}
	re, err := regexcost.Compile("^(?s:" + text + ")$")
	return err == nil && re.MatchString(""), err == nil
}

var (
	wordsOnly = regexp.MustCompile(`^[\w:./ -]+(\|[\w:./ -]+)*$`)
	grouped   = regexp.MustCompile(`^\((?:\?:)?([^()]*)\)$`)
)

// literals returns the words of a regular expression that is a plain list of words.
// Expressions with dots are excluded, because a dot may match more.
func literals(text string) (words []string, literal bool) {
	if m := grouped.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if !wordsOnly.MatchString(text) || strings.Contains(text, ".") {
		return nil, false
	}
	return strings.Split(text, "|"), true
}

func joined(labels []v1.LabelName) string {
	var out []string
	for _, l := range labels {
		out = append(out, string(l))
	}
	return strings.Join(out, ", ")
}

func valueOr[T any](p *T) (out T) {
	if p != nil {
		out = *p
	}
	return out
}
