package volume

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A folder with many more files than a walk may visit is not read to its end.
func TestWalkStopsAtTheLimit(t *testing.T) {
	cost := func(files int) float64 {
		dir := t.TempDir()
		for i := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rules-%05d.yaml", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("more than %d files and folders, up to %s", batch/2, dir)
		return testing.AllocsPerRun(3, func() {
			if err := walkAtMost(context.Background(), dir, info, visitor{}, batch/2); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	if few, many := cost(batch), cost(8*batch); many > 2*few {
		t.Errorf("%.0f allocations for %d files, %.0f for %d", few, batch, many, 8*batch)
	}
}

// Files of a folder that is read in several batches are visited in lexical order.
func TestWalkInOrder(t *testing.T) {
	dir := t.TempDir()
	for i := range 2*batch + 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	err := walk(t.Context(), dir, visitor{file: func(rel, _ string, _ os.FileInfo) error {
		seen = append(seen, rel)
		return nil
	}})
	if err != nil || len(seen) != 2*batch+1 || !slices.IsSorted(seen) {
		t.Errorf("%d files, sorted: %t, %v", len(seen), slices.IsSorted(seen), err)
	}
}
