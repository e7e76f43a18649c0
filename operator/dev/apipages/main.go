// Command pages writes the reference of the API, a page for each kind and one for
// what several kinds share:
//
//	pages SOURCE DIR
//
// SOURCE is the folder of the Go types; their comments become the text. Types,
// defaults and limits come from the CRDs, so a page says what an API server
// checks. Files in DIR that are not written are left alone.
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

// write stores pages by file name.
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
