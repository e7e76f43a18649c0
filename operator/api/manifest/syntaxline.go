package manifest

import (
	"bytes"
	"regexp"
	"sort"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// unexpected matches an error whose line number the YAML library counts from 0: the line of the fault, or the first one
// of the block around it.
var unexpected = regexp.MustCompile(`\bline (\d+): did not find expected (key|'-' indicator)?`)

// counted matches the other errors, whose line counts from 1.
var counted = regexp.MustCompile(`\bline (\d+)\b`)

// maxReparsed is the maximum length in bytes of a text that is parsed again to find a fault: up to 16 times, each of which
// takes about 0.2 ms per KiB.
const maxReparsed = 64 << 10

// SyntaxLine returns the line of the fault in a text, from 1, for an error of the YAML library about it.
func SyntaxLine(text []byte, err error) int {
	m := unexpected.FindStringSubmatch(err.Error())
	if m == nil {
		if m = counted.FindStringSubmatch(err.Error()); m == nil {
			return 1 // the library leaves out line 1
		}
		line, _ := strconv.Atoi(m[1]) // valid by the regular expression, 0 if out of range
		return max(line, 1)
	}
	line, _ := strconv.Atoi(m[1])
	line = min(line+1, 1+bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")))
	if m[2] == "" || len(text) > maxReparsed {
		return line
	}
	return faultAfter(text, line)
}

// faultAfter returns the line of a fault in a block: the last line of the shortest beginning of the text
// with the same error. Before it, every line ends what can be read. line is the first that it can be.
func faultAfter(text []byte, line int) int {
	reason := func(text []byte) string {
		if err := yaml.Unmarshal(text, new(yaml.Node)); err != nil {
			return err.Error()
		}
		return ""
	}
	whole := reason(text)
	ends := []int{0} // of each line
	for i, c := range text {
		if c == '\n' || i == len(text)-1 {
			ends = append(ends, i+1)
		}
	}
	if whole == "" || line >= len(ends) {
		return line
	}
	more := sort.Search(len(ends)-1-line, func(i int) bool { return reason(text[:ends[line+i]]) == whole })
	return line + more
}
