package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

const prefix = "github.com/firekeeper-dev/firekeeper/"

// programNames lists the programs in the order of the pages.
var programNames = []string{"operator", "config-reloader", "rules-reloader"}

// programs is a folder with the three binaries, built for the pages.
type programs struct {
	dir string
}

// buildPrograms builds the programs with the version "VERSION", so that a release does not change the pages.
func buildPrograms(ctx context.Context, progress io.Writer) (*programs, error) {
	root, err := root()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "reference-")
	if err != nil {
		return nil, err
	}
	p := &programs{dir: dir}
	args := []string{"build", "-ldflags", "-X " + prefix + "internal/version.Version=VERSION", "-o", dir}
	for _, name := range programNames {
		args = append(args, prefix+"cmd/"+name)
	}
	fmt.Fprintln(progress, "build the programs")
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		p.remove()
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return p, nil
}

func (p *programs) remove() { os.RemoveAll(p.dir) }

// command returns a command that is killed when ctx is done.
func (p *programs) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(p.dir, name), args...)
}

// output runs a program and returns its output. Lines are not wrapped.
func (p *programs) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := p.command(ctx, name, args...)
	cmd.Env = append(os.Environ(), "COLUMNS=10000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return string(out), nil
}

// root returns the folder of go.work, which is the working folder or one of its parents.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.work here or above: run inside the repository")
		}
		dir = up
	}
}
