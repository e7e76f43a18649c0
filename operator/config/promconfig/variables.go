package promconfig

import (
	"regexp/syntax"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

// allSubstituted reports whether a text has only references to variables that the operator provides. They are
// substituted in the jobs of objects, for example in relabelings that select shards.
//
// Objects may not use others. Their authors would read the environment of a container of another team, and a value can
// make the configuration invalid, which stops its updates for all objects: "http://$(PATH)" becomes a URL without
// host.
func allSubstituted(text []byte) bool {
	for start, end := range variables.All(text) {
		if !variables.Provided(variables.Name(text[start:end])) {
			return false
		}
	}
	return true
}

// substitute returns a text with a value instead of each reference.
func substitute(text, value string) string {
	var out strings.Builder
	done := 0
	for start, end := range variables.All([]byte(text)) {
		out.WriteString(text[done:start] + value)
		done = end
	}
	return out.String() + text[done:]
}

// samples are values of provided variables: numbers of shards, with the smallest and the largest of each length, and names.
var samples = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "99", "100", "999", "1000", "a-0", "z-a-9"}

const (
	maxSampled       = 100     // texts of an object that are compared with samples
	maxSampledLength = 1 << 10 // length of one of these texts in bytes
)

// variableCheck decides for the texts of an object whether their variables are substituted.
type variableCheck struct {
	sampled int
}

// literal reports whether the variables in a text must not be substituted: it refers to one that is not provided, or a
// value would make a valid regular expression invalid, such as a{10$(SHARD)1}, [$(POD_NAME)] or \$(SHARD).
func (c *variableCheck) literal(text string) bool {
	switch {
	case !allSubstituted([]byte(text)):
		return true
	case !strings.ContainsAny(text, `[{\`):
		return false
	case len(text) > maxSampledLength || c.sampled == maxSampled:
		return true
	}
	c.sampled++
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return false // not a regular expression
	}
	for _, value := range samples {
		if _, err := syntax.Parse(substitute(text, value), syntax.Perl); err != nil {
			return true
		}
	}
	return false
}
