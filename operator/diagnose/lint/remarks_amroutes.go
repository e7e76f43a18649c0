package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// unreached is the remark about a route behind one that takes all alerts.
const unreached = "no alert gets here, because %s %s and takes all: give it matchers, move it to the end, or set continue: true there"

// unusedReceiver is the remark about a receiver that no route has.
const unusedReceiver = "no route has receiver: %s, so it gets no alert"

// fileRoutes reports remarks about the routes in the file of an Alertmanager.
type fileRoutes struct {
	say  saysAt
	note saysAt
	kept retention
	like func(label string) string // see meantLabel
	used map[string]bool           // receivers of routes
	left int                       // routes that may still be looked at
	cut  bool                      // some were not looked at
}

// routesOfFile reports, at their lines, what textRemarks, matcherRemarks and receiverRemarks report in an AlertmanagerConfig:
// matchers that compare with the text of a regular expression, routes that no alert reaches and receivers that no route has;
// and alerts that are repeated after the retention.
func (l *linter) routesOfFile(file *yaml.Node, kept retention, say, note saysAt) {
	top := find(file, []string{"route"})
	if top == nil || top.Kind != yaml.MappingNode {
		return
	}
	r := fileRoutes{say: say, note: note, kept: kept, like: l.meantLabel, used: map[string]bool{}, left: budget.Routes}
	r.route("route", top, 0)
	receivers := find(file, []string{"receivers"})
	if r.cut || receivers == nil || receivers.Kind != yaml.SequenceNode {
		return
	}
	for i, receiver := range receivers.Content {
		name := find(receiver, []string{"name"})
		if name != nil && name.Value != "" && !r.used[name.Value] && !slices.Contains(ofNobody, strings.ToLower(name.Value)) {
			note(fmt.Sprintf("receivers[%d].name", i), fmt.Sprintf(unusedReceiver, name.Value), name.Line)
		}
	}
}

// route reports the remarks about a route and those below it.
func (r *fileRoutes) route(path string, n *yaml.Node, depth int) {
	if r.left--; r.left < 0 || depth > budget.RouteDepth || n.Kind == yaml.AliasNode || find(n, []string{"<<"}) != nil {
		r.cut = true
		return
	}
	if receiver := find(n, []string{"receiver"}); receiver != nil {
		r.used[receiver.Value] = true
	}
	all := matchersOfFile(path, n)
	r.misnamed(all)
	for _, m := range all {
		if m.matcher != nil && strings.HasPrefix(m.matcher.Value, "=") {
			r.say(m.path, fmt.Sprintf("the second = is a part of the value, so no alert matches; write %s%s%q", m.matcher.Name, m.matcher.Type, strings.TrimLeft(m.matcher.Value, "= ")), m.line)
		} else if meant, is := regexpInFile(m.matcher); is {
			r.say(m.path, fmt.Sprintf("%q is compared as it is, not as a regular expression; did you mean %s?", m.matcher.Value, meant), m.line)
		}
	}
	if repeat := find(n, []string{"repeat_interval"}); repeat != nil {
		if why := r.kept.forgets(repeat.Value); why != "" {
			r.say(path+".repeat_interval", why, repeat.Line)
		}
	}
	children := find(n, []string{"routes"})
	if children == nil || children.Kind != yaml.SequenceNode {
		return
	}
	r.children(path, children.Content)
	for i, child := range children.Content {
		r.route(faults.Index(path+".routes", i), child, depth+1)
	}
}

// children reports routes behind one of the same parent that takes their alerts.
func (r *fileRoutes) children(path string, all []*yaml.Node) {
	var before siblings
	for i, child := range all {
		at := faults.Index(path+".routes", i)
		if why := takesAll(child); why != "" {
			if i+1 < len(all) {
				r.say(faults.Index(path+".routes", i+1), fmt.Sprintf(unreached, at, why), all[i+1].Line)
			}
			return
		}
		if child.Kind != yaml.MappingNode || find(child, []string{"<<"}) != nil {
			continue
		}
		matchers := parsedInFile(matchersOfFile("", child))
		if why := before.shadow(matchers); why != "" {
			r.say(at, why, child.Line)
		} else if !goesOn(child) {
			before.add(at, matchers)
		}
	}
}

// goesOn reports whether alerts that match a route of the file may reach those behind it, too.
func goesOn(n *yaml.Node) bool {
	value := find(n, []string{"continue"})
	return value != nil && value.Value != "false"
}

// misnamed reports matchers of a route whose label is a misspelling of another one.
func (r *fileRoutes) misnamed(all []fileMatcher) {
	for _, m := range all {
		if m.matcher == nil {
			continue
		}
		if meant := r.like(m.matcher.Name); meant != "" {
			r.note(m.path, fmt.Sprintf(noSuchLabel, m.matcher.Name, meant), m.line)
		}
	}
}

// takesAll returns how a route of the file takes all alerts; empty if it may leave one to the routes behind it.
func takesAll(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode || find(n, []string{"<<"}) != nil || goesOn(n) {
		return ""
	}
	all := matchersOfFile("", n)
	for _, m := range all {
		if m.matcher == nil || m.matcher.Type != labels.MatchRegexp || m.matcher.Value != ".*" && (m.matcher.Value != ".+" || m.matcher.Name != model.AlertNameLabel) {
			return ""
		}
	}
	if len(all) > 0 {
		return "matches every value"
	}
	return "has no matchers"
}

// fileMatcher is a matcher of a route in the file of an Alertmanager; nil if it cannot be parsed.
type fileMatcher struct {
	matcher *labels.Matcher
	path    string
	line    int
}

// matchersOfFile returns the matchers of a route in each form that Alertmanager reads: matchers, match and match_re.
func matchersOfFile(path string, n *yaml.Node) (out []fileMatcher) {
	for _, form := range []struct {
		key string
		of  labels.MatchType
	}{{"match", labels.MatchEqual}, {"match_re", labels.MatchRegexp}} {
		values := find(n, []string{form.key})
		if values == nil || values.Kind == yaml.ScalarNode && values.Tag == "!!null" {
			continue
		}
		if values.Kind != yaml.MappingNode {
			return append(out, fileMatcher{path: path, line: values.Line})
		}
		for i := 0; i+1 < len(values.Content); i += 2 {
			m, _ := labels.NewMatcher(form.of, values.Content[i].Value, values.Content[i+1].Value) // nil for one that is invalid
			out = append(out, fileMatcher{m, path + "." + form.key + "." + values.Content[i].Value, values.Content[i].Line})
		}
	}
	list := find(n, []string{"matchers"})
	switch {
	case list == nil || list.Kind == yaml.ScalarNode && list.Tag == "!!null":
		return out
	case list.Kind != yaml.SequenceNode:
		return append(out, fileMatcher{path: path, line: list.Line})
	}
	for i, item := range list.Content {
		parsed, err := labels.ParseMatchers(item.Value)
		if err != nil || len(parsed) == 0 {
			parsed = []*labels.Matcher{nil} // Alertmanager may read it all the same
		}
		for _, m := range parsed {
			out = append(out, fileMatcher{m, faults.Index(path+".matchers", i), item.Line})
		}
	}
	return out
}

// regexpInFile returns the matcher that was probably meant by one that compares with the text of a regular expression.
func regexpInFile(m *labels.Matcher) (meant string, is bool) {
	if m == nil || !regexLike.MatchString(m.Value) || m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp {
		return "", false
	}
	operator := map[labels.MatchType]labels.MatchType{labels.MatchEqual: labels.MatchRegexp, labels.MatchNotEqual: labels.MatchNotRegexp}[m.Type]
	return fmt.Sprintf("matchers: ['%s%s\"%s\"']", m.Name, operator, m.Value), true
}
