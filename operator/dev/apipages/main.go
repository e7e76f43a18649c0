// Command apipages writes the API reference: one page for each kind and one for shared types.
//
//	apipages SOURCE DIR
//
// SOURCE is the folder of the Go types; their comments become the text. Types, defaults and limits are read from the
// CRDs and therefore match the validation by the API server. Other files in DIR are left alone.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pages SOURCE DIR")
		os.Exit(2)
	}
	pages, err := build(os.Args[1])
	if err == nil {
		err = write(os.Args[2], pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// write writes pages, keyed by file name, to a folder.
func write(dir string, pages map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
