package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// TestBrowserLive: a change appears in the page, which keeps its scroll position, focus and input.
func TestBrowserLive(t *testing.T) {
	chromium := browser(t)
	f := &fake{n: 60}
	srv := serve(t, f)
	ctx, complaints := tab(t, chromium, srv.URL)
	do(t, ctx, chromedp.EmulateViewport(900, 500), chromedp.Navigate(srv.URL+"/prometheuses/monitoring/k8s?tab=targets"))
	until(t, ctx, `document.getElementById("live").textContent === "live"`)
	until(t, ctx, `!!document.getElementById("job")`)
	do(t, ctx, chromedp.Focus("#job"), chromedp.SendKeys("#job", "half"))
	until(t, ctx, `location.search.includes("job=half")`) // the filter is applied
	do(t, ctx, chromedp.SendKeys("#job", "-typed"), chromedp.Evaluate[chromedp.Void](`document.getElementById("job").setSelectionRange(2, 4); scrollTo(0, 300)`))
	until(t, ctx, `location.search.includes("job=half-typed")`)
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`scrollTo(0, 300)`))
	tell(t, f, changed("Prometheus", "monitoring", "k8s"))
	until(t, ctx, fmt.Sprintf(`document.querySelector(".badges").textContent.includes("containers are ready (%d)")`, f.version))
	got := value[string](t, ctx, `[document.activeElement.id, document.activeElement.value, document.activeElement.selectionStart, document.activeElement.selectionEnd, scrollY].join(" ")`)
	if got != "job half-typed 2 4 300" {
		t.Errorf("after the change: %s", got)
	}

	swaps := value[string](t, ctx, `document.body.dataset.swaps`)
	tell(t, f, changed("Prometheus", "monitoring", "another"), changed("Prometheus", "monitoring", "third"))
	tell(t, f, changed("ServiceMonitor", "demo", "web"))
	until(t, ctx, `Number(document.body.dataset.swaps) > `+swaps) // of the last change, which the page could show
	complaints.report(t)
}

// TestBrowserReconnect: a page shows that it is not live, and reconnects.
func TestBrowserReconnect(t *testing.T) {
	chromium := browser(t)
	f := &fake{n: 3}
	var down atomic.Bool
	pages := page.New(page.Options{Answers: func() (insight.Answers, error) { return f, nil }, Authorize: anything})
	cut, end := context.WithCancel(context.Background())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" && down.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/events" && cut.Err() == nil {
			ctx, cancel := context.WithCancel(r.Context())
			defer context.AfterFunc(cut, cancel)()
			r = r.WithContext(ctx)
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)                // after the tab, which has a stream
	ctx, _ := tab(t, chromium, srv.URL) // the browser is expected to report the 503
	do(t, ctx, chromedp.Navigate(srv.URL+"/prometheuses/monitoring/k8s"))
	until(t, ctx, `document.getElementById("live").textContent === "live"`)
	down.Store(true)
	end()
	until(t, ctx, `document.getElementById("live").textContent === "not connected"`)
	f.mu.Lock()
	f.version = 77 // without an event
	f.mu.Unlock()
	down.Store(false)
	until(t, ctx, `document.getElementById("live").textContent === "live"`)
	until(t, ctx, `document.querySelector(".badges").textContent.includes("(77)")`)
}

// TestBrowserKeyboard: the Tab key reaches every control in order, each with visible focus, and
// Enter activates it.
func TestBrowserKeyboard(t *testing.T) {
	chromium := browser(t)
	srv := serve(t, &fake{n: 4})
	ctx, complaints := tab(t, chromium, srv.URL)
	for _, name := range []string{"overview", "feeds", "config", "object", "target", "routes-tried", "preview"} {
		do(t, ctx, chromedp.Navigate(srv.URL+paths[name]))
		// The stream may swap the page meanwhile, which must not affect the test.
		want := value[int](t, ctx, `window.want = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")].filter((e) => !e.closest("details:not([open]) > :not(summary)") && e.getClientRects().length > 0).length`)
		do(t, ctx, chromedp.Evaluate[chromedp.Void](`window.reached = new Set()`))
		for range want {
			do(t, ctx, chromedp.KeyEvent(kb.Tab))
			if fault := value[string](t, ctx, focusFault); fault != "" {
				t.Errorf("%s: %s", name, fault)
			}
		}
		if got := value[int](t, ctx, `reached.size`); got != want || want < 5 {
			t.Errorf("%s: Tab reaches %d of %d controls", name, got, want)
		}
	}

	// On a phone, filters are folded.
	do(t, ctx, chromedp.EmulateViewport(400, 740), chromedp.Navigate(srv.URL+"/"))
	const shown = `document.getElementById("q").getClientRects().length > 0`
	before := value[bool](t, ctx, shown)
	do(t, ctx, chromedp.Focus("#fold"), chromedp.KeyEvent(" "))
	if after := value[bool](t, ctx, shown); before || !after {
		t.Errorf("the filter is shown: %t, and after a key: %t", before, after)
	}
	do(t, ctx, chromedp.EmulateViewport(1280, 800))

	do(t, ctx, chromedp.Navigate(srv.URL+"/"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	until(t, ctx, `document.activeElement.id === "main"`)
	do(t, ctx, chromedp.Focus("#go-kind"), chromedp.SendKeys("#go-kind", "ServiceM"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("demo"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("web"), chromedp.KeyEvent(kb.Enter))
	arrives(t, ctx, "ServiceMonitor demo/web")
	complaints.report(t)
}

// focusFault returns a fault of the focused element, or "".
const focusFault = `(() => {
	const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
	reached.add(e);
	if (e === document.body) return "the focus is nowhere";
	if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1) return "no outline: " + e.outerHTML.slice(0, 200);
	if (box.width === 0 || box.right <= 0 || box.bottom < 0 || box.top > innerHeight) return "out of sight: " + e.outerHTML.slice(0, 200);
	return "";
})()`

// arrives waits for a page with the heading, at an address whose query has all parts.
func arrives(t *testing.T, ctx context.Context, heading string, query ...string) {
	t.Helper()
	// An expression does not survive a navigation, so each is evaluated separately.
	for deadline, stop := context.WithTimeout(ctx, patience); ; {
		got, err := chromedp.Run(deadline, chromedp.Evaluate[[]string](`document.readyState === "complete" && document.querySelector("h1") ? [document.querySelector("h1").textContent, location.search] : ["", ""]`))
		if err == nil && got[0] == heading && !slices.ContainsFunc(query, func(part string) bool { return !strings.Contains(got[1], part) }) {
			stop()
			return
		}
		if deadline.Err() != nil {
			t.Fatalf("the page is %q (%v), not %q with %q", got, err, heading, query)
		}
	}
}

// TestBrowserForms: forms work without script, including the one with manifests.
func TestBrowserForms(t *testing.T) {
	chromium := browser(t)
	f := &fake{n: 4}
	srv := serve(t, f)
	ctx, complaints := tab(t, chromium, srv.URL)
	noScript(t, ctx)
	do(t, ctx, chromedp.Navigate(srv.URL+"/prometheuses/monitoring/k8s?tab=feeds"), chromedp.SendKeys("#q", "web"+kb.Enter))
	arrives(t, ctx, "Prometheus monitoring/k8s", "q=web", "tab=feeds") // the previous page has the same heading
	do(t, ctx, chromedp.Navigate(srv.URL+paths["target"]))
	do(t, ctx, chromedp.Navigate(value[string](t, ctx, `document.querySelector('a[href*="edit=1"]').href`))) // "Show the manifest"
	do(t, ctx, chromedp.SendKeys("#manifests", "# edited"), chromedp.Submit("#manifests"))
	arrives(t, ctx, "Preview")
	if got := value[string](t, ctx, `document.getElementById("manifests").value`); !strings.Contains(got, "# edited") || !strings.Contains(got, "name: web") {
		t.Errorf("the form has %q", got)
	}
	if got := value[string](t, ctx, `document.getElementById("main").innerText`); !strings.Contains(got, "4 targets, 2 dropped") {
		t.Errorf("the answer is %q", got)
	}
	picture(t, ctx, "preview-result-light")
	for _, fault := range value[[]string](t, ctx, audit) {
		t.Error(fault)
	}
	complaints.report(t)
}
