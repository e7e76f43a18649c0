package regexcost

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// Copies returns how many times the length of a matched text a template such as "$1-$2" can become, without its
// other characters. Groups that cannot overlap count as one: those of (a+)-(b+) are at most the text together.
func Copies(parsed *syntax.Regexp, template string) int {
	indices, names := map[int]int{}, map[string]int{}
	all := 0
	for name := range references(template) {
		if n, err := strconv.Atoi(name); err == nil {
			indices[n]++
		} else {
			names[name]++
		}
		all++
	}
	if all < 2 {
		return all
	}
	return indices[0] + copies(parsed, indices, names)
}

// copies is the maximum for the groups of re, for a match of re.
func copies(re *syntax.Regexp, indices map[int]int, names map[string]int) int {
	most := 0
	for _, sub := range re.Sub {
		most = max(most, copies(sub, indices, names))
	}
	if re.Op == syntax.OpCapture {
		most += indices[re.Cap]
		if re.Name != "" {
			most += names[re.Name]
		}
	}
	return most
}

// references iterates over the names of the groups that a template refers to, as [regexp.Regexp.Expand] reads them.
func references(template string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			_, after, found := strings.Cut(template, "$")
			if !found || after == "" {
				return
			}
			if after[0] == '$' {
				template = after[1:]
				continue
			}
			name := strings.TrimPrefix(after, "{")
			end := strings.IndexFunc(name, func(r rune) bool { return !isName(r) })
			if end < 0 {
				end = len(name)
			}
			if template = name[end:]; end > 0 && !yield(name[:end]) {
				return
			}
		}
	}
}

// isName reports whether a character may be in the name of a group.
func isName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
