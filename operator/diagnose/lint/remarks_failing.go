package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

var (
	// comparedInteger matches a comparison of the value with an integer.
	comparedInteger = lazyregexp.New(`\b(eq|ne|lt|le|gt|ge)\s+(\$value|\.Value)\s+(-?\d+)(?:[\s)}]|$)`)
	// humanizedFormat matches a number that is formatted after a function made it text.
	humanizedFormat = lazyregexp.New(`\b(humanize\w*)\b[^{}]*\|\s*printf\b|\bprintf\s+"[^"]*"\s+\(\s*(humanize\w*)\b`)
)

// failingTemplates reports templates that fail for each alert, or whose printf does.
func failingTemplates(warn says, executions *rules.Executions, path string, texts map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		text := texts[key]
		if bareValue.MatchString(text) || integerFormat.MatchString(text) || len(rules.UnknownFields(text)) > 0 {
			continue // see templatesIn
		}
		switch failure := executions.Execute(text); {
		case failure == nil:
		case failure.Output != "":
			warn(path+"."+key, "printf writes %s, because %s", failure.Output, misfit(text))
		default:
			warn(path+"."+key, "%s fails, so the text is an error message when the alert fires: %s%s", failure.Action, failure.Reason, remedy(text, failure.Reason))
		}
	}
}

// misfit returns why the argument of printf does not fit the format.
func misfit(text string) string {
	if m := humanizedFormat.FindStringSubmatch(text); m != nil {
		return m[1] + m[2] + " returns text and not a number: leave out printf"
	}
	return "the argument does not fit the format: $value is a number, for %.2f, and labels are text, for %s"
}

// remedy returns an addition to the reason of a failure: what to write instead.
func remedy(text, reason string) string {
	switch m := comparedInteger.FindStringSubmatch(text); {
	case strings.Contains(reason, "incompatible types") && m != nil:
		return fmt.Sprintf("; $value is a floating-point number: write %s %s %s.0", m[1], m[2], m[3])
	case strings.Contains(reason, "incompatible types"):
		return "; $value is compared with numbers with a point, such as 5.0, and labels with text in quotes"
	case strings.HasPrefix(reason, "wrong number of args for reReplaceAll"):
		return "; its arguments are the regular expression, the replacement and the text, as in $labels.instance | reReplaceAll \":.*\" \"\""
	case strings.HasPrefix(reason, "wrong type for value; expected string; got float64"):
		return "; for the value as text write printf \"%.0f\" $value"
	}
	return ""
}
