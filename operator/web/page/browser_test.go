package page_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is a timeout for busy machines; no successful test takes this long.
const patience = 60 * time.Second

// audit is the script that checks a page in the browser.
//
//go:embed testdata/audit.js
var audit string

// browser starts a Chromium that ends with the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	switch {
	case path == "" && os.Getenv("FIREKEEPER_BROWSER") == "1":
		t.Fatal("there is no chromium, which FIREKEEPER_BROWSER=1 asks for")
	case path == "":
		t.Skip("there is no chromium (apt-get install chromium)")
	case testing.Short():
		t.Skip("a browser takes time")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the process, so that its folder can be removed
		end()
		cancel()
	})
	do(t, ctx)
	return ctx
}

// faults are the errors that a browser reports.
type faults struct {
	mu  sync.Mutex
	all []string
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

func (f *faults) report(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.all {
		t.Error(fault)
	}
	f.all = nil
}

// tab opens a tab that collects errors and requests to other servers.
func tab(t *testing.T, browser context.Context, server string) (context.Context, *faults) {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	ctx, stop := context.WithTimeout(ctx, 4*patience)
	t.Cleanup(stop)
	out := &faults{}
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			out.add("exception: %s", e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			out.add("console.%s: %s", e.Type, spelled(e.Args))
		case *log.EventEntryAdded:
			out.add("log: %s %s", e.Entry.Text, e.Entry.URL)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, server+"/") {
				out.add("request to %s", e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	command(t, ctx, network.Enable, network.EnableParams{})
	command(t, ctx, log.Enable, cdp.Empty{})
	return ctx, out
}

// do runs actions and fails the test on errors.
func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// command sends a command to the browser.
func command[P, R any](t *testing.T, ctx context.Context, c cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(ctx, c, params); err != nil {
		t.Fatal(err)
	}
}

// until waits until an expression is true.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	wait := chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond))
	if err := chromedp.Do(ctx, wait); err != nil {
		now, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("live").textContent + " | " + document.getElementById("main").innerText.slice(0, 600)`))
		t.Fatalf("%s: %v\n%s", expression, err, now)
	}
}

func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBrowser: each page, empty, small and large, with and without script, is usable: without errors, with
// labels for all controls, readable in both color schemes and on a phone.
func TestBrowser(t *testing.T) {
	chromium := browser(t)
	for size, n := range map[string]int{"empty": 0, "small": 10, "large": 100_000} {
		srv := serve(t, &fake{n: n})
		for _, script := range []bool{true, false} {
			if size == "empty" && !script {
				continue // like a small one
			}
			name := fmt.Sprintf("%s/script=%t", size, script)
			t.Run(name, func(t *testing.T) {
				ctx, complaints := tab(t, chromium, srv.URL)
				if !script {
					noScript(t, ctx)
				}
				for name, path := range paths {
					visit(t, ctx, srv.URL+path, size+"-"+name, script)
					complaints.report(t)
				}
			})
		}
	}
}

// visit checks one page in both color schemes and two widths.
func visit(t *testing.T, ctx context.Context, url, name string, pictures bool) {
	t.Helper()
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 800}, {"dark", "dark", 1280, 800}, {"narrow", "light", 400, 740}, {"tiny", "dark", 360, 740}} {
		scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}
		command(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: scheme})
		do(t, ctx, chromedp.EmulateViewport(look.width, look.height))
		if look.name == "light" {
			do(t, ctx, chromedp.Navigate(url))
		}
		for _, fault := range value[[]string](t, ctx, audit) {
			t.Errorf("%s, %s: %s", name, look.name, fault)
		}
		if pictures {
			picture(t, ctx, name+"-"+look.name)
		}
	}
}

// picture saves a screenshot in the folder of FIREKEEPER_SCREENSHOTS.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("FIREKEEPER_SCREENSHOTS")
	if folder == "" {
		return
	}
	text, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// noScript disables the scripts of pages.
func noScript(t *testing.T, ctx context.Context) {
	t.Helper()
	command(t, ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// TestBrowserHostile: hostile strings do not run scripts and do not widen a page.
func TestBrowserHostile(t *testing.T) {
	chromium := browser(t)
	for kind, odd := range hostile {
		t.Run(kind, func(t *testing.T) {
			srv := serve(t, &fake{n: 30, odd: odd})
			ctx, complaints := tab(t, chromium, srv.URL)
			for _, name := range []string{"overview", "feeds", "targets", "config", "object", "target", "routes-tried"} {
				do(t, ctx, chromedp.EmulateViewport(360, 740), chromedp.Navigate(srv.URL+paths[name]))
				if wide := value[float64](t, ctx, `document.documentElement.scrollWidth`); wide > 360 {
					t.Errorf("%s is %v wide", name, wide)
				}
			}
			complaints.report(t)
		})
	}
}

// spelled returns the arguments of a message as text.
func spelled(args []*runtime.RemoteObject) string {
	var out []string
	for _, a := range args {
		out = append(out, a.Description+string(a.Value))
	}
	return strings.Join(out, " ")
}
