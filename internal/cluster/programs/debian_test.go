package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDebian(t *testing.T) {
	cache, bin := t.TempDir(), t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("apt-get", `touch "$3_1_all.deb"`)
	script("dpkg", `mkdir -p "$3/usr/bin" && printf '#!/bin/sh\n' >"$3/usr/bin/tool" && chmod +x "$3/usr/bin/tool"`)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	f := &Finder{Cache: cache}
	want := filepath.Join(cache, "debian-pkg", "usr/bin/tool")

	if path, err := f.Debian(t.Context(), "pkg", "usr/bin/tool", false); path != "" || err != nil {
		t.Errorf("without fetching: %q, %v", path, err)
	}
	if path, err := f.Debian(t.Context(), "pkg", "usr/bin/tool", true); path != want || err != nil {
		t.Errorf("first time: %q, %v", path, err)
	}
	script("apt-get", "exit 1")
	if path, err := f.Debian(t.Context(), "pkg", "usr/bin/tool", true); path != want || err != nil {
		t.Errorf("from the cache: %q, %v", path, err)
	}
	script("apt-get", "echo 'no such package'; exit 100")
	if _, err := f.Debian(t.Context(), "gone", "usr/bin/tool", true); err == nil || !strings.Contains(err.Error(), "no such package") {
		t.Errorf("a package that is not there: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, ".debian-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
