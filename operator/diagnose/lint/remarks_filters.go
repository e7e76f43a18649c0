package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// filters are the steps of a list that keep or drop items by labels that no later step has changed, by source labels and
// separator.
type filters struct {
	say  says
	path string
	what relabelled
	keep map[string]keep
	drop map[string]drop
}

// keep is an earlier keep step.
type keep struct {
	sources []v1.LabelName
	regex   string
	shapes  []shape
	at      int
}

// drop is the last drop step for a label.
type drop struct {
	sources []v1.LabelName
	regex   string
	at      int
}

// within reports whether an expression matches all values that the step keeps.
func (k keep) within(regex string) bool {
	if k.regex == regex {
		return true
	}
	re, err := regexcost.Whole(regex)
	return err == nil && !slices.ContainsFunc(k.shapes, func(s shape) bool { return !s.whole || !re.MatchString(s.text) })
}

func newFilters(say says, path string, what relabelled) *filters {
	return &filters{say, path, what, map[string]keep{}, map[string]drop{}}
}

// add adds the step with an index, and reports it if nothing passes it together with an earlier one.
func (f *filters) add(i int, s *v1.RelabelConfig, action string) {
	switch {
	case s.TargetLabel != "" || action == "labelmap" || action == "labeldrop" || action == "labelkeep":
		f.changed(s.TargetLabel)
	case action == "keep":
		f.addKeep(i, s)
	case action == "drop":
		f.addDrop(i, s)
	}
}

// changed removes the steps that look at a label, or all if it is empty.
func (f *filters) changed(label string) {
	looksAt := func(sources []v1.LabelName) bool { return label == "" || slices.Contains(sources, v1.LabelName(label)) }
	maps.DeleteFunc(f.keep, func(_ string, k keep) bool { return looksAt(k.sources) })
	maps.DeleteFunc(f.drop, func(_ string, d drop) bool { return looksAt(d.sources) })
}

func (f *filters) addKeep(i int, s *v1.RelabelConfig) {
	field, key := fmt.Sprintf("%s[%d]", f.path, i), filterKey(s)
	now := keep{s.SourceLabels, s.Regex, shapesOf(parsed(s.Regex)), i}
	if before, again := f.keep[key]; again && apart(before.shapes, now.shapes) {
		f.say(field, "keep after keep (%s[%d]) on %s with nothing in common drops every %s; write one step with regex: %s|%s",
			f.path, before.at, joined(s.SourceLabels), f.what, ungrouped(before.regex), ungrouped(s.Regex))
	}
	if d, is := f.drop[key]; is && len(now.shapes) > 0 && now.within(d.regex) {
		f.say(field, "keep after drop (%s[%d]) on %s drops every %s, because all that it keeps is dropped before: remove one of the steps",
			f.path, d.at, joined(s.SourceLabels), f.what)
	}
	f.keep[key] = now
}

func (f *filters) addDrop(i int, s *v1.RelabelConfig) {
	key := filterKey(s)
	if before, again := f.keep[key]; again && before.within(s.Regex) {
		f.say(fmt.Sprintf("%s[%d]", f.path, i), "drop after keep (%s[%d]) on %s drops every %s, because its regex matches all that is kept: remove one of the steps",
			f.path, before.at, joined(s.SourceLabels), f.what)
	}
	f.drop[key] = drop{s.SourceLabels, s.Regex, i}
}

// filterKey identifies the value that a step looks at.
func filterKey(s *v1.RelabelConfig) string {
	return fmt.Sprint(s.SourceLabels, ptr.Deref(s.Separator, ""))
}

// ungrouped removes a group around a whole expression.
func ungrouped(regex string) string {
	if m := grouped.FindStringSubmatch(regex); m != nil {
		return m[1]
	}
	return regex
}

// grouped matches an expression in parentheses.
var grouped = lazyregexp.New(`^\((?:\?:)?([^()]*)\)$`)

func joined(labels []v1.LabelName) string {
	var out []string
	for _, l := range labels {
		out = append(out, string(l))
	}
	return strings.Join(out, ", ")
}
