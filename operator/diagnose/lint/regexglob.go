package lint

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// globLike matches text with a * that repeats the character before it, where a pattern for names of files would have it for
// anything.
var globLike = lazyregexp.New(`[A-Za-z0-9][_-]\*`)

// globbed matches an expression that ends in such a *, and has no other operators.
var globbed = lazyregexp.New(`^[A-Za-z0-9_:-]*[A-Za-z0-9][_-]\*$`)

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

// maxListedNames is the length in bytes of the lists of names that commaList reads.
const maxListedNames = 500

// nameList matches names of metrics with commas between them.
var nameList = lazyregexp.New(`^\(?[a-zA-Z_:][a-zA-Z0-9_:]*(?:\s*,\s*[a-zA-Z_:][a-zA-Z0-9_:]*)+\)?$`)

// commaList returns the names in a regular expression that is a list of names with commas; nil for another one.
func commaList(regex string) []string {
	if len(regex) > maxListedNames || !nameList.MatchString(regex) {
		return nil
	}
	return strings.FieldsFunc(strings.Trim(regex, "()"), func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
}
