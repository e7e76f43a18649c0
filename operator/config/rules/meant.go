package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

var (
	unknownFunction   = regexp.MustCompile(`unknown function with name "(\w+)"`)
	undefinedName     = regexp.MustCompile(`(undefined variable|function) "(\$?\w+)"`)
	templateVariables = []string{"$labels", "$value", "$externalLabels", "$externalURL"}
)

// syntaxHints are what to write for what people often write; the first that matches counts.
var syntaxHints = []struct {
	of   *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`unexpected "="$`), "write == to compare"},
	{regexp.MustCompile(`expected type range vector in call to function "\w+", got instant vector`), "add a range to the selector, such as [5m]"},
	{regexp.MustCompile(`in label matching, expected string`), "put the value of the label in quotes"},
	{regexp.MustCompile(`in grouping opts, expected "\("`), "put the labels in parentheses"},
	{regexp.MustCompile(`unexpected character: '&'|unexpected "&"`), "write and"},
	{regexp.MustCompile(`unexpected character: '\|'`), "write or"},
	{regexp.MustCompile(`unexpected identifier "(?i:and|or)" in label matching`), "separate matchers with commas, all of which must match; for one or the other write a regular expression, such as job=~\"a|b\""},
	{regexp.MustCompile(`unexpected <(?:by|without)>$`), "by and without belong to aggregations such as sum and avg, not to functions"},
}

// percent matches the end of an expression that compares with a number of percents.
var percent = regexp.MustCompile(`[0-9]\s*%\s*$`)

// meantFunction adds to the error about a function that PromQL does not have the one that
// was perhaps meant, and to that about other syntax what to write instead.
func meantFunction(err error, expr string) error {
	m := unknownFunction.FindStringSubmatch(err.Error())
	if m == nil {
		if strings.HasSuffix(err.Error(), "unexpected end of input") && percent.MatchString(expr) {
			return fmt.Errorf("%w; %% is the remainder of a division, write the number alone", err)
		}
		for _, h := range syntaxHints {
			if h.of.MatchString(err.Error()) {
				return fmt.Errorf("%w; %s", err, h.says)
			}
		}
		return err
	}
	if meant := manifest.Similar(m[1], slices.Sorted(maps.Keys(parser.Functions))); meant != "" {
		return fmt.Errorf("%w, did you mean %q?", err, meant)
	}
	return err
}

// mostTemplateFaults bounds what is said about one template.
const mostTemplateFaults = 5

// templateFaults are all names in a template that nobody knows, each with what was perhaps
// meant, and the first fault of another kind: the reader of templates stops at the first.
func templateFaults(alert, text string, functions map[string]any) (out []error) {
	for range mostTemplateFaults {
		err := checkTemplate(alert, text, functions)
		if err == nil {
			break
		}
		m := undefinedName.FindStringSubmatch(err.Error())
		if m == nil {
			if len(out) == 0 { // else it may follow from a correction
				out = append(out, err)
			}
			break
		}
		known := templateVariables
		if m[2][0] != '$' {
			known = slices.Sorted(maps.Keys(functions))
		}
		meant := manifest.Similar(m[2], known)
		if variable := "$" + m[2]; slices.Contains(templateVariables, variable) {
			meant = variable
		}
		_, other := templateFunctions()[m[2]] // of another version
		if other || meant == "" {
			out = append(out, err)
			break
		}
		out = append(out, fmt.Errorf("%w, did you mean %q?", err, meant))
		if strings.Contains(meant, m[2]) {
			break // replacing it would change the right ones too
		}
		text = strings.ReplaceAll(text, m[2], meant)
	}
	return out
}
