package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	empty := t.TempDir()
	for name, tc := range map[string]struct {
		args   []string
		code   int
		stdout string // substring
		stderr string // substring
	}{
		"no command prints the usage":   {nil, 2, "", "Usage:"},
		"--help prints the usage":       {[]string{"--help"}, 0, "clusterctl load-image NAME", ""},
		"an unknown command is named":   {[]string{"fly"}, 2, "", `unknown command "fly"`},
		"a command has help":            {[]string{"up", "--help"}, 0, "-control-plane-only", ""},
		"an unknown flag is named":      {[]string{"up", "--fast"}, 2, "", "-fast"},
		"status of nothing":             {[]string{"status", "--dir", empty}, 3, "", "no cluster runs in " + empty},
		"down of nothing is done":       {[]string{"down", "--dir", empty}, 0, "", ""},
		"an image needs a name":         {[]string{"load-image", "--dir", empty}, 2, "", "exactly one image name"},
		"a bad build argument is named": {[]string{"load-image", "x", "--build-arg", "A"}, 2, "", "must be KEY=VALUE"},
		"flags may follow arguments":    {[]string{"load-image", "x:1", "--dir", empty}, 1, "", "no cluster runs in " + empty},
		"an image needs programs":       {[]string{"load-programs", "x"}, 2, "", "at least one program"},
		"an unknown program is named":   {[]string{"programs", "emacs"}, 2, "", `program "emacs" is not known`},
		"programs need a name":          {[]string{"programs"}, 2, "", "at least one program"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), tc.args, &stdout, &stderr)
			if code != tc.code {
				t.Errorf("exit status %d, want %d", code, tc.code)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("stdout %q, stderr %q; want %q and %q in them", &stdout, &stderr, tc.stdout, tc.stderr)
			}
		})
	}
}

func TestUsageNamesEveryCommand(t *testing.T) {
	for name := range subcommands {
		if !strings.Contains(usage, "clusterctl "+name+" ") {
			t.Errorf("the usage does not name %s", name)
		}
	}
}

func TestUpStatusDown(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Kubernetes control plane, which -short leaves out")
	}
	dir := filepath.Join(t.TempDir(), "c")
	for _, step := range []struct {
		args   []string
		code   int
		stdout string
	}{
		{[]string{"up", "--control-plane-only", "--dir", dir}, 0, filepath.Join(dir, "kubeconfig")},
		{[]string{"status", "--dir", dir}, 0, "kube-controller-manager"},
		{[]string{"up", "--control-plane-only", "--dir", dir}, 0, "already running"},
		{[]string{"up", "--dir", dir}, 1, ""},
		{[]string{"down", "--dir", dir}, 0, ""},
		{[]string{"status", "--dir", dir}, 3, ""},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), step.args, &stdout, &stderr)
		if code != step.code || !strings.Contains(stdout.String(), step.stdout) {
			t.Errorf("%v: exit status %d, want %d\n%s%s", step.args, code, step.code, &stdout, &stderr)
		}
	}
}
