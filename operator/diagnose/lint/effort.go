package lint

// Names in objects of one tenant are compared with those in others, of which there may be thousands each. What that costs has
// a limit for all manifests together; beyond it, hints are left out.

// maxSimilar is the maximum number of different names for which a similar one is searched. Each takes milliseconds among many.
const maxSimilar = 1000

// similarNames maps names to those that were probably meant; empty if there is none.
type similarNames map[string]string

// of returns the result of search for a name, which is searched once; empty beyond maxSimilar.
func (s *similarNames) of(name string, search func() string) string {
	meant, known := (*s)[name]
	if known || len(*s) >= maxSimilar {
		return meant
	}
	if *s == nil {
		*s = similarNames{}
	}
	meant = search()
	(*s)[name] = meant
	return meant
}

// maxMatching is the maximum number of instructions of regular expressions that are executed to compare names with them: a few
// seconds. An accepted expression may take twenty thousand for a character.
const maxMatching = 300_000_000

// affords reports whether a text may be compared with a regular expression, and charges it.
//
// work: that of [regexcost.Work].
func (l *linter) affords(work, bytes int) bool {
	if l.matching > maxMatching-min(maxMatching, work*bytes) {
		return false
	}
	l.matching += work * bytes
	return true
}
