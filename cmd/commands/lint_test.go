package commands

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestLint runs the command in a folder with the files of a golden file.
//
//	args           the arguments after "lint", one per line
//	stdin          its standard input
//	want/<format>  the output in that format; "stderr" for standard error
//	want/code      the exit code
func TestLint(t *testing.T) {
	golden.Run(t, "testdata/lint/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir, args, _ := unpacked(t, c)
		args = append([]string{"lint"}, args...)
		switch name {
		case "json", "sarif", "github":
			args = append(args, "--format="+name)
		}
		return printed(t, dir, args, name)
	})
}
