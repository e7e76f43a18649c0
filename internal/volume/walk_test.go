package volume

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A folder beyond the limits is not read as a whole: its names would fill the memory of a sidecar.
func TestLargeFoldersAreNotReadAsAWhole(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 * batch {
		if err := os.Symlink("nowhere", filepath.Join(dir, strings.Repeat("n", 50)+strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		left, names int
		want        string
	}{
		{10, maxNames, "more than 200000 files and folders, up to "},
		{maxEntries, 10, "names of files and folders with more than 16 MiB, up to "},
	} {
		w := walker{ctx: t.Context(), left: tc.left, names: tc.names}
		_, err := w.list(dir, func(fs.DirEntry) bool { return true })
		if read := tc.left - w.left; err == nil || err.Error() != tc.want+dir || read != batch {
			t.Errorf("error %v after %d names", err, read)
		}
	}
}
