// Command reference generates the pages of docs/reference from the programs themselves, so that the pages match the
// code:
//
//	flags.md      the --help output of the programs
//	http-api.md   the paths of the HTTP API
//	metrics.md    the metrics of the running programs
//	supported.md  the versions of other software that work, and those that tests run
//	versions.md   the version gates in the types and tables of the operator
//
// To document a new flag, metric or gate, run it again:
//
//	go run ./operator/dev/reference docs/reference
//
// A test fails if a page is out of date.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

// page is one file of docs/reference.
type page struct {
	name  string
	write func(context.Context, *programs) ([]byte, error)
}

var pages = []page{
	{"flags.md", flagsPage},
	{"http-api.md", httpAPIPage},
	{"metrics.md", metricsPage},
	{"supported.md", supportedPage},
	{"versions.md", versionsPage},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// run writes all pages to a folder.
func run(ctx context.Context, args []string, progress io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the folder to write to")
	}
	p, err := buildPrograms(ctx, progress)
	if err != nil {
		return err
	}
	defer p.remove()
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	for _, page := range pages {
		text, err := page.write(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
		path := filepath.Join(args[0], page.name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(progress, "wrote", path)
	}
	return nil
}
