// Command table writes the limits of one object into a page of the documentation, between
// its marks.
//
//	table docs/security.md
package main

import (
	"fmt"
	"os"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(name string) error {
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := budget.Insert(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(text), 0o644)
}
