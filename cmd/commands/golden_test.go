package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// unpacked writes the inputs of a golden file to a folder. "args" is not an input but has
// the arguments of the command, one per line.
func unpacked(t *testing.T, c golden.Case) (dir string, args, names []string) {
	t.Helper()
	dir, names = c.Unpack(t, "args")
	if text, ok := c.Input("args"); ok {
		args = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	return dir, args, names
}

// printed runs a command in a folder and returns the result with this name in a golden
// file: "code" is the exit code, "stderr" is standard error, all other names are standard
// output. It is JSON for "json" and "sarif".
func printed(t *testing.T, dir string, args []string, name string) ([]byte, error) {
	t.Helper()
	stdout, stderr, code := runIn(t, dir, args)
	switch name {
	case "code":
		return fmt.Appendln(nil, code), nil
	case "stderr":
		return stderr, nil
	case "json", "sarif":
		if !json.Valid(stdout) {
			return nil, fmt.Errorf("not JSON:\n%s", stdout)
		}
	}
	return stdout, nil
}

func init() { // do not read the cluster of the user who runs the tests
	clientcmd.RecommendedHomeFile = "/no/kubeconfig"
	if os.Getenv(asPlugin) == "" {
		_ = os.Unsetenv("KUBECONFIG")
	}
}

// runIn runs a command in a folder. A file "stdin" there is its standard input.
func runIn(t *testing.T, dir string, args []string) (stdout, stderr []byte, code int) {
	t.Helper()
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(dir, "stdin")); err == nil {
		defer f.Close()
		real := os.Stdin
		os.Stdin = f
		defer func() { os.Stdin = real }()
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	code = Operator(context.Background(), args, &out, &errs)
	t.Chdir(home)
	return out.Bytes(), errs.Bytes(), code
}
