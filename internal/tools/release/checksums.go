package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeSums writes SHA256SUMS, for sha256sum --check.
func (r *release) writeSums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(text), entry.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(out.String()), 0o644)
}
