package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// globLike matches text with a * that repeats the character before it, where a pattern for names of files would have it for
// anything.
var globLike = lazyregexp.New(`[A-Za-z0-9][_a-rt-zA-RT-Z-]\*`)

// globbed matches an expression that ends in such a *, and has no other operators. Behind an s it may mean a plural, and
// behind a digit a number.
var globbed = lazyregexp.New(`^[A-Za-z0-9_:-]*[A-Za-z0-9][_-]\*$|^[A-Za-z0-9_:-]*[A-Za-z][a-rt-zA-RT-Z]\*$`)

// globWords describe the result of globIn: the part, what it matches without and with the repeated character, and what is
// meant.
const globWords = "* repeats the character before it, so that %s matches %s and %s, but nothing that continues: write %s"

// globIn returns the first alternative of a regular expression that ends as a pattern for names of files does, and the
// expression that was meant; both empty if there is none.
func globIn(regex string) (part, meant string) {
	if !globLike.MatchString(regex) {
		return "", ""
	}
	body := ungrouped(regex)
	if strings.ContainsAny(body, `()[]{}\`) {
		return "", ""
	}
	for part = range strings.SplitSeq(body, "|") {
		if globbed.MatchString(part) {
			return part, part[:len(part)-1] + ".*"
		}
	}
	return "", ""
}

// maxListedNames is the length in bytes of the lists of names that strayName reads.
const maxListedNames = 500

// namePattern matches an expression for names of metrics.
var namePattern = lazyregexp.New(`^\^?[a-zA-Z_:.][a-zA-Z0-9_:.*+?]*\$?$`)

// strayName returns why a regular expression, or one of its alternatives, matches no name of a metric, and the expression
// that was probably meant; both empty if it may match one. Names can have any character, but none that is usual has a
// comma, a blank before or after it, or an exclamation mark.
func strayName(regex, action string) (why, meant string) {
	if len(regex) > maxListedNames {
		return "", ""
	}
	body := ungrouped(regex)
	if rest, is := strings.CutPrefix(body, "!"); is && (namePattern.MatchString(rest) || ungrouped(rest) != rest) {
		return "! negates nothing in a regex, and no metric has one in its name", rest + ", with action: " + map[string]string{"keep": "drop", "drop": "keep"}[action]
	}
	if strings.ContainsAny(body, `()[]{}\`) {
		return "", ""
	}
	for part := range strings.SplitSeq(body, "|") {
		parts := separated(part)
		for _, name := range parts {
			if !namePattern.MatchString(name) {
				return "", ""
			}
		}
		switch {
		case len(parts) == 0, why != "":
		case strings.Contains(part, ","):
			why = "a comma separates nothing in a regex, and no metric has one in its name"
		case strings.ContainsAny(part, "\n\r"):
			why = "a line break is a part of the regex, and no metric has one in its name (YAML keeps that at the end of a block after |, and not after |-)"
		case strings.TrimSpace(part) != part || len(parts) > 1 && !slices.ContainsFunc(parts, func(name string) bool { return !strings.Contains(name, "_") }):
			why = "a blank is a part of the regex, and no metric has one in its name"
		}
	}
	if why == "" {
		return "", ""
	}
	return why, strings.Join(separated(strings.ReplaceAll(body, "|", ",")), "|")
}

// separated splits text at commas and blanks.
func separated(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}
