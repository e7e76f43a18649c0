package commands

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestRender runs the command in a folder with the files of a golden file.
//
//	args               the arguments after "render", one to a line
//	want/stdout        what it prints
//	want/objects       kinds and names of the objects that it prints
//	want/statefulsets  the objects of this kind alone
//	want/stderr        what it says
//	want/code          the exit code
func TestRender(t *testing.T) {
	golden.Run(t, "testdata/render/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir, args, _ := unpacked(t, c)
		stdout, stderr, code := runIn(t, dir, append([]string{"render"}, args...))
		switch name {
		case "stdout":
			return stdout, nil
		case "stderr":
			return stderr, nil
		case "code":
			return fmt.Appendln(nil, code), nil
		case "objects":
			return outline(string(stdout)), nil
		case "statefulsets":
			return only("StatefulSet", string(stdout)), nil
		}
		return nil, fmt.Errorf("nothing is called %s", name)
	})
}

// outline keeps kind and name of each object.
func outline(manifests string) []byte {
	var out strings.Builder
	kind := ""
	for line := range strings.SplitSeq(manifests, "\n") {
		if text, ok := strings.CutPrefix(line, "kind: "); ok {
			kind = text
		}
		if text, ok := strings.CutPrefix(line, "  name: "); ok && kind != "" {
			fmt.Fprintf(&out, "%s %s\n", kind, text)
			kind = ""
		}
	}
	return []byte(out.String())
}

// inputHash is another one in every version of the operator.
var inputHash = regexp.MustCompile(`(?m)^ *prometheus-operator-input-hash: .*\n`)

// only keeps the documents of a kind.
func only(kind, manifests string) []byte {
	var out strings.Builder
	for doc := range strings.SplitSeq(manifests, "---\n") {
		if strings.Contains(doc, "\nkind: "+kind+"\n") {
			out.WriteString(inputHash.ReplaceAllString(doc, ""))
		}
	}
	return []byte(out.String())
}
