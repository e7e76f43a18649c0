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

// syntaxHints are suggestions for common mistakes; the first match is used.
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

// percent matches the end of an expression that compares with a percentage.
var percent = regexp.MustCompile(`[0-9]\s*%\s*$`)

// meantFunction adds a suggestion to an error: the similar function for an unknown one, or
// the correct syntax.
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
