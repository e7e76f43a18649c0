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
//	args               the arguments after "render", one per line
//	want/stdout        the output
//	want/objects       kinds and names of the objects in the output
//	want/statefulsets  only the objects of this kind
//	want/stderr        standard error
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

// outline returns kind and name of each object.
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

// inputHash matches the input hash, which differs between versions of the operator.
var inputHash = regexp.MustCompile(`(?m)^ *prometheus-operator-input-hash: .*\n`)

// only returns the documents of a kind.
func only(kind, manifests string) []byte {
	var out strings.Builder
	for doc := range strings.SplitSeq(manifests, "---\n") {
		if strings.Contains(doc, "\nkind: "+kind+"\n") {
			out.WriteString(inputHash.ReplaceAllString(doc, ""))
		}
	}
	return []byte(out.String())
}
