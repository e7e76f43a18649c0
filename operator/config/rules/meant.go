package rules

import (
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

var (
	unknownFunction   = lazyregexp.New(`unknown function with name "(\w+)"`)
	undefinedName     = lazyregexp.New(`(undefined variable|function) "(\$?\w+)"`)
	templateVariables = []string{"$labels", "$value", "$externalLabels", "$externalURL"}
)

// hint is a suggestion for errors that match.
type hint struct {
	of   *lazyregexp.Regexp
	says string
}

// syntaxHints are suggestions for common mistakes; the first match is used.
var syntaxHints = []hint{
	{lazyregexp.New(`unexpected "="$`), "write == to compare"},
	{lazyregexp.New(`unexpected character inside braces: ':'`), "write = between a label and its value, as in job=\"a\""},
	{lazyregexp.New(`unexpected identifier "(?i:in)" in label matching`), "several values are a regular expression, as in code=~\"500|503\""},
	{lazyregexp.New(`expected type range vector in call to function "\w+", got instant vector`), "add a range to the selector, such as [5m]"},
	{lazyregexp.New(`unexpected "=" in label matching, expected string`), "labels are compared with one =, as in job=\"a\""},
	{lazyregexp.New(`in label matching, expected string|unexpected character inside braces: '\d'`), "put the value of the label in quotes"},
	{lazyregexp.New(`unexpected character: '[a-z]', expected ':'$`), "write the duration without a blank, such as [5m]"},
	{lazyregexp.New(`unexpected <(?:by|without)> in aggregation$`), "close the parentheses before it, as in sum(rate(a[5m])) by (b)"},
	{lazyregexp.New(`unknown escape sequence`), "in quotes a backslash is written twice, as in \"a\\\\.b\"; backticks need no second one"},
	{lazyregexp.New(`in grouping opts, expected "\("`), "put the labels in parentheses"},
	{lazyregexp.New(`unexpected character: '&'|unexpected "&"`), "write and"},
	{lazyregexp.New(`unexpected character: '\|'`), "write or"},
	{lazyregexp.New(`unexpected identifier "(?i:and|or)" in label matching`), "separate matchers with commas, all of which must match; for one or the other write a regular expression, such as job=~\"a|b\""},
	{lazyregexp.New(`ranges only allowed for vector selectors$`), "apply the function to the selector and aggregate its result, as in sum(rate(a[5m])), or write a subquery, such as [5m:]"},
	{lazyregexp.New(`unexpected character in duration expression: '\$'`), "$__interval, $__rate_interval and $__range are variables of Grafana; write a range such as [5m]"},
	{lazyregexp.New(`^.*offset modifier must be preceded by`), "write offset directly after the selector, as in rate(a[5m] offset 1h)"},
	{lazyregexp.New(`unexpected <group_(?:left|right)>$`), "write on (…) or ignoring (…) before it"},
	{lazyregexp.New(`unexpected character[^:]*: '[“”„‘’«»‹›´]'`), "write straight quotes"},
	{lazyregexp.New(`unexpected character[^:]*: '\\u(?:00a0|2007|202f|2003|2009|3000)'`), "this is another blank, such as the no-break space of an editor or a web page: type a blank instead"},
	{lazyregexp.New(`unexpected character[^:]*: '\\u(?:200[b-f]|2060|00ad|feff)'`), "this character is invisible: delete it, or type the text around it once more"},
	{lazyregexp.New(`unexpected character[^:]*: '[–—−‐‑]'`), "this is another dash, as editors make of -: type - instead"},
	{lazyregexp.New(`must contain at least one non-empty matcher$`), "compare a label with something, as in job=~\".+\""},
	{lazyregexp.New(`in call to function "absent", got range vector$`), "leave out the range, or use absent_over_time"},
	{lazyregexp.New("missing argument to repetition operator: `[*+?]`"), "* and + repeat what is before them in a regular expression; to match anything write .*"},
	{lazyregexp.New("invalid or unsupported Perl syntax: `\\(\\?"), "there is no looking ahead or back: use another matcher, with !~"},
	{lazyregexp.New(`no offset modifiers allowed before range$`), "write offset after the range, as in rate(a[5m] offset 1h)"},
	{lazyregexp.New(`unexpected <op:[^=]`), "an operand is missing before it"},
	{lazyregexp.New(`unexpected identifier "\w+" in aggregation$`), "put what is aggregated in parentheses, as in sum by (b) (rate(a[5m]))"},
	{lazyregexp.New(`expected type scalar in call to function "(?:histogram_quantile|quantile_over_time)"`), "the quantile comes first, as in histogram_quantile(0.9, a)"},
	{lazyregexp.New(`in call to "label_replace", got [1-4]$`), "write label_replace(a, \"to\", \"$1\", \"from\", \"(.*)\")"},
	{lazyregexp.New(`in call to "predict_linear", got 1$`), "the second one is how many seconds ahead, as in predict_linear(a[1h], 4 * 3600)"},
	{lazyregexp.New(`unexpected character: '\.'$`), "a name with dots is written in quotes, as in {\"a.b\"}, if it has them: exporters of metrics for Prometheus 2 write _ instead"},
	{lazyregexp.New(`unexpected identifier "(?i:for)"$`), "for is a field of the alert, beside expr"},
	{lazyregexp.New(`unexpected end of input inside braces$`), "close the brace with }"},
	{lazyregexp.New(`unexpected <(?:by|without)>$`), "by and without belong to aggregations such as sum and avg, not to functions"},
	{lazyregexp.New(`bad number or duration syntax: "(?:\d+(?:ms|[smhdwy]))+\d+"$`), "a unit follows each number of a duration, as in 1h30m"},
	{lazyregexp.New(`aggregate expression provided, expected 2, got 1$`), "it has two, as in topk(5, a), quantile(0.9, a) and count_values(\"value\", a)"},
}

// logQL matches the filters of LogQL after a selector.
var logQL = lazyregexp.New(`\|=|\|~|\}\s*\|\s*[a-z]`)

// escapedSign matches an operator or a quote as HTML has it.
var escapedSign = lazyregexp.New(`&(?:gt|lt|amp|quot|#[0-9]{2});`)

// templated matches a part of an expression that is written like a template.
var templated = lazyregexp.New(`\{\{-?\s*[$.\w"][^{}]*\}\}`)

// lastOperator matches an operator at the end of an expression.
var lastOperator = lazyregexp.New(`(?i)(?:[\s)}\]](and|or|unless)|([-+*/^<>]|[=!<>]=))\s*$`)

// percent matches the end of an expression that compares with a percentage.
var percent = lazyregexp.New(`[0-9]\s*%\s*$`)

// notEnabled matches the errors about experimental functions.
var notEnabled = lazyregexp.New(`(\w+)(?:\(\) is experimental and must be enabled with \S+|" is not enabled)$`)

// meantFunction adds a suggestion to an error: the similar function for an unknown one, how to enable
// an experimental one, or the correct syntax.
func (s *Settings) meantFunction(err error, expr string) error {
	if m := notEnabled.FindStringSubmatch(err.Error()); m != nil {
		for f := range s.lacking.each {
			if !f.template && f.name == m[1] {
				return fmt.Errorf("%w; it needs >= %s%s", err, f.of(s.Thanos), formerName(m[1]))
			}
		}
		return fmt.Errorf("%w; set spec.enableFeatures: [%s] of the workload", err, experimentalFunctions)
	}
	m := unknownFunction.FindStringSubmatch(err.Error())
	if m == nil {
		return meantSyntax(err, expr)
	}
	if meant := manifest.Similar(m[1], slices.Sorted(maps.Keys(parser.Functions))); meant != "" {
		return fmt.Errorf("%w, did you mean %q?", err, meant)
	}
	return err
}

// meantSyntax adds the correct syntax to an error about an expression, if it is a common mistake.
func meantSyntax(err error, expr string) error {
	if strings.HasSuffix(err.Error(), "unexpected end of input") && percent.MatchString(expr) {
		return fmt.Errorf("%w; %% is the remainder of a division, write the number alone", err)
	}
	if m := lastOperator.FindStringSubmatch(expr); m != nil && strings.HasSuffix(err.Error(), "unexpected end of input") {
		return fmt.Errorf("%w; an operand is missing after %s", err, m[1]+m[2])
	}
	if logQL.MatchString(expr) {
		return fmt.Errorf("%w; this is LogQL, which Loki evaluates", err)
	}
	if used := templated.Get().FindString(expr); used != "" {
		return fmt.Errorf("%w; expr is no template, so %s is not replaced: write the value", err, used)
	}
	if m := escapedSign.FindStringSubmatch(expr); m != nil {
		return fmt.Errorf("%w; %s is HTML: write %s", err, m[0], html.UnescapeString(m[0]))
	}
	if says := meantOperand(err.Error(), expr); says != "" {
		return fmt.Errorf("%w; %s", err, says)
	}
	for _, h := range syntaxHints {
		if h.of.MatchString(err.Error()) {
			return fmt.Errorf("%w; %s", err, h.says)
		}
	}
	return err
}

var (
	sizeUnit      = lazyregexp.New(`[\d.]\s*[KMGTkmgt]i?[Bb]?(?:$|[\s)])`)
	negation      = lazyregexp.New(`(?i)(?:^|[\s(])not[\s(]`)
	longUnit      = lazyregexp.New(`\[\s*(\d+)\s*(sec|min|hour|hr|day|week|year)[a-z]*\s*[\]:]`)
	joinedComment = lazyregexp.New(`^\s*#[^\n]*\s[^\n]*[<>=({]`)
	textNumber    = lazyregexp.New(`[=!<>]=?\s*["']([-+]?[0-9.]+)["']\s*(?:\)|$)`)
	ranged        = lazyregexp.New(`([a-zA-Z_:][\w:]{0,60}(?:\{[^{}]{0,60}\})?\[[\w\s]{1,20}(:?)[\w\s]{0,20}\])\s*(?:[-+*/%^<>=!]|and\s|or\s|unless\s|$)`)
	turnedAround  = lazyregexp.New(`=[<>]`)
	numbered      = lazyregexp.New(`\b(?:topk|bottomk|quantile)\b`)
	ofTwo         = lazyregexp.New(`\b(max|min|sum)\s*\(\s*([a-zA-Z_:][\w:]*)\s*,\s*([a-zA-Z_:][\w:]*)\s*\)`)
	decimalComma  = lazyregexp.New(`\b([0-9]+),([0-9]+)\s*(?:$|\)|and\s|or\s|unless\s)`)
	matcherInCall = lazyregexp.New(`([a-zA-Z_:][\w:]*)\s*\(\s*[a-zA-Z_]\w*\s*(?:=~|!~|!=|=)\s*["']`)
	rangeFirst    = lazyregexp.New(`\[[\w\s:]{1,40}\]\s*\{`)
	groupBy       = lazyregexp.New(`(?i)\)\s*group\s+by\b`)
	fieldInside   = lazyregexp.New(`(?:^|\s)(for|keep_firing_for|labels|annotations):(?:\s|$)`)
	dashedName    = lazyregexp.New(`(?:^|[(\s])([a-zA-Z][a-zA-Z0-9]*)-([a-zA-Z][\w:-]*)\s*(?:\{[^{}]*\}\s*)?\[`)
)

// meantOperand returns the probable intention of an expression with a unit in full, a number in quotes, a comment
// before it, or the name of a metric with a dash; empty if it has none.
func meantOperand(message, expr string) string {
	if m := fieldInside.FindStringSubmatch(expr); m != nil {
		return fmt.Sprintf("%s: is a part of the expression, because its line is indented deeper than expr; begin it in the column of expr", m[1])
	}
	if says := meantMatchers(message, expr); says != "" {
		return says
	}
	operands := strings.HasSuffix(message, "binary expression must contain only scalar and instant vector types")
	if m := longUnit.FindStringSubmatch(expr); m != nil && strings.Contains(message, "duration") {
		return fmt.Sprintf("write [%s%s]", m[1], m[2][:1])
	}
	if strings.Contains(message, "bad number or duration syntax") && sizeUnit.MatchString(expr) {
		return "numbers have no units of size: write 1e9 for 1 GB, or 2^30 for 1 GiB"
	}
	if strings.HasSuffix(message, "no expression found in input") && joinedComment.MatchString(expr) {
		return "what follows # is a comment to the end of the line: > in YAML joins the lines, | keeps them"
	}
	if strings.Contains(message, "unexpected identifier") && negation.MatchString(expr) {
		return "PromQL has no not: write a comparison such as == 0, a unless b, or absent(a)"
	}
	if m := textNumber.FindStringSubmatch(expr); m != nil && operands {
		return "write the number without quotes: " + m[1]
	}
	if m := dashedName.FindStringSubmatch(expr); m != nil && operands {
		return fmt.Sprintf("%s-%s is read as a subtraction; if it is the name of a metric, write {%q}, as exporters of metrics for Prometheus 2 write _ instead of -", m[1], m[2], m[1]+"-"+m[2])
	}
	if operands && strings.Contains(expr, "[") {
		return "a range needs a function, such as " + overRange(expr)
	}
	if strings.HasSuffix(message, "unexpected <op:>>") && strings.Contains(expr, "<>") {
		return "write != for not equal"
	}
	if m := turnedAround.Get().FindString(expr); m != "" && strings.HasSuffix(message, `unexpected "="`) {
		return "write " + m[1:] + "="
	}
	if numbered.MatchString(expr) && strings.HasSuffix(message, "expected type instant vector in aggregation expression, got scalar") {
		return "the number comes first, as in topk(5, a)"
	}
	if m := ofTwo.FindStringSubmatch(expr); m != nil && strings.HasSuffix(message, "expected 1, got 2") {
		instead := map[string]string{"max": m[2] + " > " + m[3] + " or " + m[3], "min": m[2] + " < " + m[3] + " or " + m[3], "sum": m[2] + " + " + m[3]}
		return fmt.Sprintf("%s aggregates the series of one argument; for two write %s", m[1], instead[m[1]])
	}
	return ""
}

// meantMatchers returns what was probably meant by matchers or a number that are written as in another language; empty if
// there are none.
func meantMatchers(message, expr string) string {
	if m := matcherInCall.FindStringSubmatch(expr); m != nil && strings.Contains(message, "unexpected \"") {
		return fmt.Sprintf("labels are compared in braces, as in %s{job=\"a\"}", m[1])
	}
	if strings.Contains(message, `unexpected "{"`) && rangeFirst.MatchString(expr) {
		return "the range comes after the braces, as in a{job=\"b\"}[5m]"
	}
	if strings.Contains(message, "group") && groupBy.MatchString(expr) {
		return "write by without group, as in sum by (a) (b)"
	}
	if m := decimalComma.FindStringSubmatch(expr); m != nil && strings.HasSuffix(message, `unexpected ","`) {
		return fmt.Sprintf("numbers have a point: write %s.%s", m[1], m[2])
	}
	return ""
}

// overRange returns an example of a function of a range: of the one in an expression that has none, or otherwise of another.
func overRange(expr string) string {
	m := ranged.FindStringSubmatch(expr)
	switch {
	case m == nil:
		return "rate(a[5m])"
	case m[2] != "":
		return "max_over_time(" + m[1] + ")"
	}
	return "rate(" + m[1] + ")"
}

// foreignFunctions maps functions of Helm, Grafana and others to what to write instead.
var foreignFunctions = map[string]string{
	"humanizeBytes": "write humanize1024", "humanizeSize": "write humanize1024", "humanizePercent": "write humanizePercentage", "percentage": "write humanizePercentage",
	"upper": "write toUpper", "lower": "write toLower", "replace": "write reReplaceAll \"regex\" \"replacement\"", "contains": "write match \"regex\"",
	"trunc": helmFunction, "default": helmFunction, "quote": helmFunction, "trim": helmFunction, "toString": helmFunction, "toYaml": helmFunction, "include": helmFunction, "indent": helmFunction, "nindent": helmFunction,
	"round": "write printf \"%.0f\"", "date": "write humanizeTimestamp, or toTime",
}

const helmFunction = "a function of Helm, which Prometheus does not have"

// templateHints are suggestions for common mistakes in templates.
var templateHints = []hint{
	{lazyregexp.New(`bad character U\+002D '-'$`), "for a name with - write {{ index $labels \"a-b\" }}"},
	{lazyregexp.New(`bad character U\+002F '/'$`), "labels of Kubernetes have _ instead of . and / in Prometheus: write {{ $labels.a_b }}"},
	{lazyregexp.New(`unexpected "}" in operand$|unclosed action|bad character U\+007D '}'$`), "what {{ begins ends with }}"},
	{lazyregexp.New(`unexpected EOF$`), "what if, range or with begins ends with {{ end }}"},
	{lazyregexp.New(`unexpected {{end}}$`), "there is an end too many: it closes if, range or with"},
	{lazyregexp.New(`unexpected "[*/+]" in operand$|illegal number syntax: "[-+]`), "templates do not calculate: do it in expr; for a ratio as a percentage write {{ $value | humanizePercentage }}"},
	{lazyregexp.New(`bad character U\+005B '\['$`), "write {{ $labels.a }}, or {{ index $labels \"a-b\" }} for a name with other characters"},
	{lazyregexp.New(`unexpected "=" in (?:operand|if|with|else)$`), "comparisons are functions before their operands: write eq $labels.a \"b\", or eq $value 5.0"},
	{lazyregexp.New(`unexpected "[<>!]" in operand$`), "comparisons are functions before their operands: write gt $value 5.0, or ge, lt, le, eq, ne"},
	{lazyregexp.New(`unexpected "%" in operand$`), "put the format in quotes, as in printf \"%.2f\""},
}

// meantTemplate adds a suggestion to an error of the template parser.
func meantTemplate(err error) error {
	for _, h := range templateHints {
		if h.of.MatchString(err.Error()) {
			return fmt.Errorf("%w; %s", err, h.says)
		}
	}
	return err
}

// mostTemplateFaults is the maximum number of faults reported for one template.
const mostTemplateFaults = 5

// templateFaults returns all unknown names in a template, each with a suggestion, and the
// first fault of another kind. The template parser stops at the first error.
func templateFaults(alert, text string, functions map[string]any) (out []error) {
	for range mostTemplateFaults {
		err := checkTemplate(alert, text, functions)
		if err == nil {
			break
		}
		m := undefinedName.FindStringSubmatch(err.Error())
		if m == nil {
			if len(out) == 0 { // otherwise, a correction may have caused it
				out = append(out, meantTemplate(err))
			}
			break
		}
		known := templateVariables
		if m[2][0] != '$' {
			known = slices.Sorted(maps.Keys(functions))
			if instead := foreignFunctions[m[2]]; instead != "" {
				out = append(out, fmt.Errorf("%w: %s", err, instead))
				break
			}
		}
		meant := manifest.Similar(m[2], known)
		if variable := "$" + m[2]; slices.Contains(templateVariables, variable) {
			meant = variable
		}
		_, other := templateFunctions()[m[2]] // supported by another version
		if other || meant == "" {
			out = append(out, err)
			break
		}
		out = append(out, fmt.Errorf("%w, did you mean %q?", err, meant))
		if strings.Contains(meant, m[2]) {
			break // replacing it would also change the correct ones
		}
		text = strings.ReplaceAll(text, m[2], meant)
	}
	return out
}

// notInNames matches a character that names do not have without UTF-8 names, and a digit at the start.
var notInNames = lazyregexp.New(`^[0-9]|[^a-zA-Z0-9_:]`)

// validName returns an addition to an error about a name: a valid one that is similar.
func validName(name string, scheme model.ValidationScheme) string {
	if scheme != model.LegacyValidation || name == "" || name == model.MetricNameLabel {
		return ""
	}
	return fmt.Sprintf(": this version allows only letters, digits and _; write %s", notInNames.ReplaceAllString(name, "_"))
}
