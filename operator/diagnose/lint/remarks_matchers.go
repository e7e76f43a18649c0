package lint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// regexLike matches values that are probably regular expressions and not plain label values.
var regexLike = lazyregexp.New(`\.[*+]|[^|]\|[^|]|^\^|\][*+]|\\[dw][*+]`)

// delimited matches PromQL with a regular expression between slashes, and betweenSlashes the expression itself.
var (
	delimited      = lazyregexp.New("[=!]~\\s*[\"'`]/")
	betweenSlashes = lazyregexp.New(`^/\^?([^/]+?)\$?/[gimsx]*$`)
)

// pathLike matches the names of labels whose values may begin and end with a slash.
var pathLike = lazyregexp.New(`(?i)path|mount|uri|url|route|handler|endpoint|dir|file|location|resource|target|prefix|method|operation|host|topic|page|queue|volume|bucket|request|key|^id$`)

// withoutSlashes returns what is between the slashes of a regular expression such as /web.*/, which other
// languages want there; empty if there are none, or if values of the label may have them.
func withoutSlashes(label, value string) string {
	m := betweenSlashes.FindStringSubmatch(value)
	if m == nil || pathLike.MatchString(label) {
		return ""
	}
	return m[1]
}

// grafana matches a variable of Grafana in an expression for labels, where $ can only be the end of the text, and
// onlyGrafana a text that is nothing else.
var (
	grafana     = lazyregexp.New(`(?:^|[^\\])(\$(?:\{\w+(?::\w+)?\}|[A-Za-z_]\w*))`)
	onlyGrafana = lazyregexp.New(`^(\$(?:\{\w+(?::\w+)?\}|[A-Za-z_]\w*)|\[\[\w+\]\])$`)
)

// filledIn matches a variable or field of a template. Paths of URLs may have other names in braces.
var filledIn = lazyregexp.New(`\{\{-?\s*[$.]\w[^{}]*\}\}`)

// variableRemark returns the remark about a matcher with a template or a variable of Grafana; empty if it has none.
func variableRemark(m *labels.Matcher) string {
	expr, effect := onlyGrafana, "matches nothing"
	if m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp {
		expr = grafana
	}
	if m.Type == labels.MatchNotEqual || m.Type == labels.MatchNotRegexp {
		effect = "excludes nothing"
	}
	if used := filledIn.Get().FindString(m.Value); used != "" {
		return fmt.Sprintf("%s: expr is no template, so %s is compared as it is, and the matcher %s; write the value, or leave the matcher out for all values", m, used, effect)
	}
	found := expr.FindStringSubmatch(m.Value)
	if found == nil {
		found = onlyGrafana.FindStringSubmatch(m.Value)
	}
	if found == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s is a variable of Grafana, which rules do not have, so that the matcher %s; write the value, or leave the matcher out for all values", m, found[1], effect)
}

// buckets matches a matcher for buckets or quantiles.
var buckets = lazyregexp.New(`\b(le|quantile)\s*=`)

// wholeNumber returns the remark about a matcher for a bucket or quantile as Prometheus 2 wrote it; empty for another one.
func wholeNumber(m *labels.Matcher) string {
	if m.Type != labels.MatchEqual || m.Name != labels.BucketLabel && m.Name != model.QuantileLabel || strings.Trim(m.Value, "0123456789") != "" || m.Value == "" {
		return ""
	}
	return fmt.Sprintf("%s: Prometheus >= 3.0 writes these numbers with a fraction, so that this matches nothing there; write %[2]s=%[3]q, or for both %[2]s=~%[4]q", m, m.Name, m.Value+".0", m.Value+`(\.0)?`)
}

// exprRemarks reports equality matchers in expressions whose value looks like a regular
// expression, regular expressions between slashes, templates and variables of Grafana; if a Prometheus >= 3.0 evaluates them, also
// numbers of buckets as older ones wrote them.
func exprRemarks(say, note says, queries []*query, newer bool) {
	for _, q := range queries {
		text := q.text
		if !regexLike.MatchString(text) && !globLike.MatchString(text) && !delimited.MatchString(text) && !buckets.MatchString(text) && !asteriskInEqual.MatchString(text) && !strings.ContainsAny(text, "$") && !strings.Contains(text, "[[") && !strings.Contains(text, "{{") {
			continue
		}
		for _, selector := range q.selectors() {
			for _, m := range selector {
				matcherInExpr(say, note, q.path("expr"), m, newer)
			}
		}
	}
}

// matcherInExpr reports the remarks of exprRemarks about one matcher.
func matcherInExpr(say, note says, field string, m *labels.Matcher, newer bool) {
	if why := variableRemark(m); why != "" {
		say(field, "%s", why)
		return
	}
	if why := wholeNumber(m); why != "" && newer {
		note(field, "%s", why)
	}
	if m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp {
		if inner := withoutSlashes(m.Name, m.Value); inner != "" {
			meant := labels.Matcher{Type: m.Type, Name: m.Name, Value: inner}
			say(field, "%s: the slashes are part of the regular expression, which must match the whole value; did you mean %s?", m, &meant)
		}
		if part, meant := globIn(m.Value); part != "" {
			say(field, "%s: "+globWords, m, part, part[:len(part)-2], part[:len(part)-1], meant)
		}
		return
	}
	if meant := globInEqual(m); meant != nil {
		say(field, "%s compares with this text as it is, and no %s has a * in its name; did you mean %s?", m, m.Name, meant)
		return
	}
	if m.Name != model.MetricNameLabel && regexLike.MatchString(m.Value) {
		meant := labels.Matcher{Type: regexpOf[m.Type], Name: m.Name, Value: m.Value}
		say(field, "%s compares with this text as it is, not as a regular expression; did you mean %s?", m, &meant)
	}
}

// asteriskInEqual matches an equality matcher with an asterisk in its value.
var asteriskInEqual = lazyregexp.New(`=\s*["'][^"'\n]{0,200}\*`)

// namedByKubernetes are labels with names of objects, of which none has an asterisk.
var namedByKubernetes = []string{"namespace", "pod", "container", "node", "service", "deployment", "statefulset", "daemonset", "persistentvolumeclaim", "job"}

// globInEqual returns the regular expression that is meant by an equality matcher whose value begins or ends with * for
// anything; nil for another matcher.
func globInEqual(m *labels.Matcher) *labels.Matcher {
	body := strings.TrimSuffix(strings.TrimPrefix(m.Value, "*"), "*")
	if regexpOf[m.Type] == 0 || body == m.Value || !slices.Contains(namedByKubernetes, m.Name) || !wordsOnly.MatchString(body) {
		return nil
	}
	return &labels.Matcher{Type: regexpOf[m.Type], Name: m.Name, Value: strings.ReplaceAll(m.Value, "*", ".*")}
}

// wordsOnly matches the characters of names, or nothing.
var wordsOnly = lazyregexp.New(`^[A-Za-z0-9_-]*$`)

// regexpOf maps equality matchers to the corresponding regular expression matchers.
var regexpOf = map[labels.MatchType]labels.MatchType{labels.MatchEqual: labels.MatchRegexp, labels.MatchNotEqual: labels.MatchNotRegexp}

// alertmanagerConfigRemarks reports remarks about an AlertmanagerConfig that a workload selects. saying returns a function
// for a severity and a workload, empty for any.
func (l *linter) alertmanagerConfigRemarks(saying func(Severity, string) says, w dryrun.Workload, c *v1alpha1.AlertmanagerConfig) {
	always, note := saying(SeverityWarning, ""), saying(SeverityNote, "")
	limit := ""
	if am, is := w.Object.(*v1.Alertmanager); is && limited(am, c) {
		limit = c.Namespace
	}
	inhibitionRemarks(always, note, c)
	for i, rule := range c.Spec.InhibitRules {
		here, path := saying(SeverityWarning, w.String()), fmt.Sprintf("spec.inhibitRules[%d]", i)
		namespaceRemarks(here, path+".sourceMatch", rule.SourceMatch, limit)
		namespaceRemarks(here, path+".targetMatch", rule.TargetMatch, limit)
		if limit != "" && !l.standsIn(w.String()) {
			l.placelessInhibition(saying(SeverityNote, w.String()), path, rule, limit)
		}
	}
	notificationRemarks(always, c)
	receiverValues(always, c)
	if am, is := w.Object.(*v1.Alertmanager); is {
		if files := l.templatesOf(am); files != nil {
			undefinedRemarks(saying(files.severity(), w.String()), files, c)
		}
	}
	if c.Spec.Route == nil {
		if len(c.Spec.Receivers) > 0 {
			always("spec.receivers", "spec.route is not set, so no alert reaches the receivers; set it, with the receiver for all alerts of the namespace")
		}
		return
	}
	used, kept := map[string]bool{}, retention(0)
	if am, is := w.Object.(*v1.Alertmanager); is && !l.standsIn(w.String()) {
		kept = retentionOf(am)
	}
	for r := range decodeRoute("spec.route", c.Spec.Route).all() {
		used[r.Receiver] = true
		matcherRemarks(always, saying(SeverityWarning, w.String()), r, limit)
		if why := kept.forgets(string(r.RepeatInterval)); why != "" {
			saying(SeverityWarning, w.String())(r.path+".repeatInterval", "%s", why)
		}
		l.severityRemarks(note, r)
		if limit != "" && !l.standsIn(w.String()) {
			l.placelessRemarks(saying(SeverityNote, w.String()), r, limit)
		}
	}
	receiverRemarks(note, c, used, isBase(w.Object, c))
}

// receiverRemarks reports that no receiver has a way to notify, and receivers that no route uses. used has the names of those
// of routes. A base may leave it to other objects to notify.
func receiverRemarks(note says, c *v1alpha1.AlertmanagerConfig, used map[string]bool, base bool) {
	if !base && !slices.ContainsFunc(c.Spec.Receivers, notifies) && len(c.Spec.Receivers) > 0 {
		note("spec.receivers", "none of them has a way to notify, such as slackConfigs or webhookConfigs, so the alerts are sent to nobody")
	}
	for i := range c.Spec.Receivers {
		for j, to := range c.Spec.Receivers[i].PagerDutyConfigs {
			if to.ServiceKey != nil && to.RoutingKey != nil {
				note(fmt.Sprintf("spec.receivers[%d].pagerdutyConfigs[%d].routingKey", i, j), "has no effect beside serviceKey, which is used, with version 1 of the Events API: remove the one that is not of your integration")
			}
		}
		if name := c.Spec.Receivers[i].Name; !used[name] {
			note(fmt.Sprintf("spec.receivers[%d].name", i), unusedReceiver, name)
		}
	}
}

// ofNobody are names of receivers by which users say that alerts are to be dropped.
var ofNobody = []string{"null", "none", "blackhole", "devnull", "dev-null", "noop", "empty", "default", "discard"}

// notifies reports whether a receiver has a configuration of any kind, or drops alerts on purpose.
func notifies(r v1alpha1.Receiver) bool {
	if slices.Contains(ofNobody, strings.ToLower(r.Name)) {
		return true
	}
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() > 0 {
			return true
		}
	}
	return false
}

// isBase reports whether an AlertmanagerConfig is the configuration of an Alertmanager, to which it adds those that it selects.
func isBase(w v1.Workload, c catalog.Object) bool {
	am, is := w.(*v1.Alertmanager)
	return is && am.Spec.AlertmanagerConfiguration != nil && am.Spec.AlertmanagerConfiguration.Name == c.GetName() && am.Namespace == c.GetNamespace()
}

// limited reports whether an Alertmanager restricts an AlertmanagerConfig to the alerts of its
// namespace.
func limited(am *v1.Alertmanager, c *v1alpha1.AlertmanagerConfig) bool {
	return !isBase(am, c) && am.MatcherStrategy().Limits(am.Namespace, c.Namespace)
}

// matcherRemarks reports remarks about the matchers of a route, and child routes behind one that takes their alerts. limit
// is the only namespace whose alerts reach the route; empty for all.
func matcherRemarks(always, here says, r *route, limit string) {
	textRemarks(always, r.path+".matchers", r.Matchers)
	namespaceRemarks(here, r.path+".matchers", r.Matchers, limit)
	intervalRemark(always, r)
	all := slices.IndexFunc(r.children, func(child *route) bool { return len(child.Matchers) == 0 && !child.Continue })
	if all >= 0 && all+1 < len(r.children) {
		always(r.children[all+1].path, unreached, r.children[all].path, "has no matchers")
	}
	shadowRemarks(always, r)
}

// namespaceRemarks reports matchers for a namespace whose alerts the Alertmanager does not pass to the object. limit is the
// only one whose alerts it passes; empty for all.
func namespaceRemarks(here says, path string, matchers []v1alpha1.Matcher, limit string) {
	for i, m := range matchers {
		if limit != "" && isEqual(m) && m.Name == namespaceLabel && m.Value != limit && !regexLike.MatchString(m.Value) {
			here(fmt.Sprintf("%s[%d]", path, i), "no alert has namespace %q here: the Alertmanager passes only alerts of namespace %s, that of this object, unless spec.alertmanagerConfigMatcherStrategy of the Alertmanager says otherwise", m.Value, limit)
		}
	}
}

// intervalRemark reports intervals of zero, and a repetition that is more frequent than the notifications of its group.
func intervalRemark(say says, r *route) {
	for _, of := range []struct {
		field string
		value v1.NonEmptyDuration
	}{{"groupInterval", r.GroupInterval}, {"repeatInterval", r.RepeatInterval}} {
		if d, err := model.ParseDuration(string(of.value)); err == nil && d == 0 && of.value != "" {
			say(r.path+"."+of.field, "%s has no effect: Alertmanager refuses it, so the operator leaves it out, and the one of the route above applies, or the default; write how long to wait, at least 1s, or remove the field", of.value)
		}
	}
	group, err := model.ParseDuration(string(r.GroupInterval))
	repeat, wrong := model.ParseDuration(string(r.RepeatInterval))
	if err == nil && wrong == nil && repeat > 0 && repeat < group {
		say(r.path+".repeatInterval", "%s is shorter than groupInterval %s, so that alerts are repeated every %s: a group is looked at once in groupInterval", r.RepeatInterval, r.GroupInterval, r.GroupInterval)
	}
}

// inQuotes matches a value in quotes, and withOperator one behind the operator of a matcher, as in the file of an Alertmanager.
var (
	inQuotes     = lazyregexp.New(`^(?:"([^"]+)"|'([^']+)')$`)
	withOperator = lazyregexp.New(`^(=~|!=|!~|==?) *["']?(\w[^"']*)["']?$`)
)

// punctuated returns what is wrong about a matcher whose value has quotes or an operator around it; empty if it has none.
func punctuated(m v1alpha1.Matcher) string {
	if found := inQuotes.FindStringSubmatch(m.Value); found != nil {
		return fmt.Sprintf("the quotes are part of the value that the label is compared with: write %s without them", found[1]+found[2])
	}
	found := withOperator.FindStringSubmatch(m.Value)
	if found == nil || !isEqual(m) {
		return ""
	}
	operator := strings.Replace(found[1], "==", "=", 1)
	return fmt.Sprintf("%s is part of the value that the label is compared with: write value: %s, and matchType: %q", found[1], found[2], operator)
}

// textRemarks reports matchers that compare with the text of a regular expression, or with quotes.
func textRemarks(say says, path string, matchers []v1alpha1.Matcher) {
	for i, m := range matchers {
		if why := punctuated(m); why != "" {
			say(fmt.Sprintf("%s[%d].value", path, i), "%s", why)
			continue
		}
		meant := v1alpha1.MatchRegexp
		if m.MatchType == v1alpha1.MatchNotEqual {
			meant = v1alpha1.MatchNotRegexp
		} else if !isEqual(m) {
			if inner := withoutSlashes(m.Name, m.Value); inner != "" {
				say(fmt.Sprintf("%s[%d].value", path, i), "the slashes are part of the regular expression, which must match the whole value; did you mean %q?", inner)
			}
			continue
		}
		if regexLike.MatchString(m.Value) {
			say(fmt.Sprintf("%s[%d].value", path, i), "%q is compared as it is, not as a regular expression; did you mean matchType: %q?", m.Value, meant)
		}
	}
}

// isEqual reports whether a matcher compares with its value as it is.
func isEqual(m v1alpha1.Matcher) bool {
	return m.MatchType == v1alpha1.MatchEqual || m.MatchType == "" && !m.Regex
}
