package page_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// The checker of accessibility (MPL-2.0), which is not part of the source tree, and the checksum that
// the registry has of it.
const (
	axePackage = "axe-core@4.14.1"
	axeFile    = "axe-core-4.14.1.tgz"
	axeSum     = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)

// axe returns the script of axe-core, from the cache or the npm registry.
func axe(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FIREKEEPER_CACHE")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", ".cache", "programs")
	}
	file := filepath.Join(folder, axeFile)
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		download(t, folder)
	}
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha512.Sum512(packed); base64.StdEncoding.EncodeToString(sum[:]) != axeSum {
		t.Fatalf("%s has another checksum: remove it", file)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(zipped); ; {
		h, err := files.Next()
		if err != nil {
			t.Fatalf("axe.min.js: %v", err)
		}
		if h.Name != "package/axe.min.js" {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// download writes axe-core into a folder. It skips the test without npm or network.
func download(t *testing.T, folder string) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("there is no npm, which downloads axe-core")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	if out, err := exec.CommandContext(ctx, "npm", "pack", "--ignore-scripts", "--pack-destination", folder, axePackage).CombinedOutput(); err != nil {
		t.Skipf("axe-core cannot be downloaded: %v\n%s", err, out)
	}
}

// TestBrowserAxe: axe-core has no finding on any page, in both color schemes and on a phone.
func TestBrowserAxe(t *testing.T) {
	chromium := browser(t)
	script := axe(t)
	srv := serve(t, &fake{n: 10})
	ctx, complaints := tab(t, chromium, srv.URL)
	for name, path := range paths {
		for _, look := range []struct {
			scheme        string
			width, height int64
		}{{"light", 1280, 800}, {"dark", 1280, 800}, {"light", 400, 740}} {
			scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}
			command(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: scheme})
			do(t, ctx, chromedp.EmulateViewport(look.width, look.height))
			if look.scheme == "light" && look.width == 1280 {
				do(t, ctx, chromedp.Navigate(srv.URL+path))
				value[bool](t, ctx, script+"; true")
			}
			value[bool](t, ctx, `window.found = null; document.querySelectorAll("details").forEach((d) => { d.open = true; });
				axe.run().then((r) => { window.found = r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).slice(0, 3).join("; ")).concat(r.passes.length < 10 ? ["axe looked at " + r.passes.length + " rules"] : []); }, (e) => { window.found = [String(e)]; }); true`)
			until(t, ctx, `window.found !== null`)
			for _, finding := range value[[]string](t, ctx, `window.found`) {
				t.Errorf("%s, %s, %d wide: %s", name, look.scheme, look.width, finding)
			}
		}
		complaints.report(t)
	}
}
