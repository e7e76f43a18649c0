package promconfig

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v3"

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
	maxSampledLength = 1 << 10 // of one of them, in bytes
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

// maybeKey matches a line with a reference in what may be a key.
var maybeKey = regexp.MustCompile(`(?m)\$\(.*:([ \t]|$)`)

// maxReencoded is the maximum length in bytes of a job that is encoded again, which takes a hundred times as much memory.
const maxReencoded = 128 << 10

// literalVariables returns jobs in which only references to provided variables are substituted, and only in values:
// keys could become equal. The other references are written as an escape that YAML decodes to the original. The encoder
// has done this for most values.
//
// Errors: a long job with references in keys.
func literalVariables(jobs []byte) ([]byte, error) {
	if !bytes.Contains(jobs, []byte("$(")) || allSubstituted(jobs) && !maybeKey.Match(jobs) {
		return jobs, nil
	}
	if len(jobs) > maxReencoded {
		return nil, fmt.Errorf("a job has references to environment variables, $(NAME), in keys or before a colon, and more than %d bytes", maxReencoded)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(jobs, &doc); err != nil {
		return nil, err
	}
	dollar := "VARIABLE"
	for bytes.Contains(jobs, []byte(dollar)) {
		dollar += "X"
	}
	markVariables(&doc, dollar)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(&doc); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(dollar+"("), []byte(`\x24(`)), nil
}

// markVariables writes another text for the dollar sign of each reference that must not be substituted.
func markVariables(n *yaml.Node, dollar string) {
	for i, child := range n.Content {
		key := n.Kind == yaml.MappingNode && i%2 == 0
		if child.Kind == yaml.ScalarNode && strings.Contains(child.Value, "$(") && (key || !allSubstituted([]byte(child.Value))) {
			child.Value, child.Style = strings.ReplaceAll(child.Value, "$(", dollar+"("), yaml.DoubleQuotedStyle
		}
		markVariables(child, dollar)
	}
}
