package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUIPicture uses chromium to write the picture of the README to the folder
// FIREKEEPER_SCREENSHOTS:
//
//	FIREKEEPER_SCREENSHOTS=$PWD/docs go test ./cmd/commands -run TestUIPicture
func TestUIPicture(t *testing.T) {
	folder := os.Getenv("FIREKEEPER_SCREENSHOTS")
	if folder == "" {
		t.Skip("FIREKEEPER_SCREENSHOTS names no folder")
	}
	p := serveUI(t, Operator, anyPort, "--apiserver="+serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{}))
	const path = "servicemonitors/demo/web?tab=targets"
	p.get(t, "/"+path) // loads the targets
	file := filepath.Join(folder, "page.png")
	text, err := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+t.TempDir(),
		"--window-size=1100,720", "--screenshot="+file, p.url+path).CombinedOutput()
	if info, failed := os.Stat(file); err != nil || failed != nil || info.Size() > 150<<10 {
		t.Errorf("%s: %v, %v\n%s", file, err, failed, text)
	}
}
