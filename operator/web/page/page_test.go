package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// paths are the paths of all pages.
var paths = map[string]string{
	"overview":        "/",
	"overview-filter": "/?q=k8s",
	"feeds":           "/prometheuses/monitoring/k8s",
	"overview-level":  "/?level=warning",
	"attention":       "/prometheuses/monitoring/k8s?tab=attention",
	"pods":            "/prometheuses/monitoring/k8s?tab=pods",
	"targets":         "/prometheuses/monitoring/k8s?tab=targets",
	"health":          "/prometheuses/monitoring/k8s?tab=targets&health=1",
	"shards":          "/prometheuses/monitoring/k8s?tab=shards",
	"resharding":      "/prometheuses/monitoring/k8s?tab=shards&shards=3",
	"config":          "/prometheuses/monitoring/k8s?tab=config",
	"events":          "/prometheuses/monitoring/k8s?tab=events",
	"agent":           "/prometheusagents/monitoring/edge?tab=targets",
	"ruler":           "/thanosrulers/monitoring/rules",
	"alertmanager":    "/alertmanagers/monitoring/main",
	"routes":          "/alertmanagers/monitoring/main?tab=routes",
	"routes-tried":    "/alertmanagers/monitoring/main?label=severity%3Dwarning&label=namespace%3Ddemo&tab=routes",
	"object":          "/servicemonitors/demo/web",
	"object-targets":  "/servicemonitors/demo/web?tab=targets",
	"rule":            "/prometheusrules/demo/web",
	"amconfig":        "/alertmanagerconfigs/demo/team",
	"target":          "/prometheuses/monitoring/k8s/target?id=0000000000000001&job=serviceMonitor%2Fdemo%2Fweb%2F0",
	"pod":             "/pods/demo/web-0",
	"preview":         "/preview",
	"list":            "/servicemonitors?namespace=demo&state=rejected",
	"list-rules":      "/prometheusrules",
}

func serve(t testing.TB, f *fake) *httptest.Server {
	t.Helper()
	return serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return f, nil }, Authorize: anything})
}

func serveWith(t testing.TB, o page.Options) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(page.New(o))
	t.Cleanup(srv.Close)
	return srv
}

func get(t testing.TB, srv *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("GET", srv.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, r)
}

func send(t testing.TB, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// post sends manifests like the form of a page.
func post(t testing.TB, srv *httptest.Server, path, manifests string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", srv.URL+path, strings.NewReader(url.Values{"manifests": {manifests}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return send(t, r)
}

// hostile are conversions to strings that could break a page.
var hostile = map[string]func(string) string{
	"markup":  func(s string) string { return `"><script>alert(1)</script><img src=//evil.example/x onerror=a>` + s },
	"quotes":  func(s string) string { return "'\"`{{.}}</textarea></style>&amp;" + s },
	"long":    func(s string) string { return s + strings.Repeat("x", 10_000) },
	"escapes": func(s string) string { return s + strings.Repeat(`"<&>'`, 2000) },
	"unicode": func(s string) string { return "\u202e\u0000\xff\ufeff" + s + strings.Repeat("ﷺ", 500) },
	"lines":   func(s string) string { return s + "\n\n\r\n" + strings.Repeat("a\n", 1000) },
}

// TestWeight: the size of pages is bounded for any cluster.
func TestWeight(t *testing.T) {
	for size, n := range map[string]int{"empty": 0, "small": 10, "large": 100_000} {
		f := &fake{n: n}
		srv := serve(t, f)
		for name, path := range paths {
			t.Run(size+"/"+name, func(t *testing.T) {
				begin := cputime.Now()
				resp, body := get(t, srv, path)
				took := cputime.Since(begin)
				light(t, resp, body)
				if took > 2*time.Second {
					t.Errorf("took %s", took)
				}
				t.Logf("%d bytes, %d nodes, %d rows, %s", len(body), count(t, body), strings.Count(body, "<tr>"), took.Round(time.Millisecond))
			})
		}
		resp, body := post(t, srv, "/preview", "kind: ServiceMonitor")
		light(t, resp, body)
	}
}

// TestHostile: hostile strings neither break a page nor make it large.
func TestHostile(t *testing.T) {
	for kind, odd := range hostile {
		srv := serve(t, &fake{n: 150, odd: odd})
		for name, path := range paths {
			t.Run(kind+"/"+name, func(t *testing.T) {
				resp, body := get(t, srv, path)
				light(t, resp, body)
				tame(t, body)
			})
		}
		resp, body := post(t, srv, "/preview", "kind: ServiceMonitor # "+odd("x"))
		light(t, resp, body)
		tame(t, body)
	}
}

// light checks the limits of a page.
func light(t *testing.T, resp *http.Response, body string) {
	t.Helper()
	if resp.StatusCode != 200 {
		t.Fatalf("%s\n%.500s", resp.Status, body)
	}
	if len(body) > 60_000 {
		t.Errorf("%d bytes", len(body))
	}
	if n := count(t, body); n > 3000 {
		t.Errorf("%d nodes", n)
	}
	if n := strings.Count(body, "<tr>"); n > 200 {
		t.Errorf("%d rows", n)
	}
}

// count returns the number of nodes of a document.
func count(t testing.TB, body string) int {
	t.Helper()
	n := 0
	for range parsed(t, body).Descendants() {
		n++
	}
	return n
}

func parsed(t testing.TB, body string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// tame checks that a document only loads and runs its own files, and that its links stay on the
// server.
func tame(t *testing.T, body string) {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "img", "iframe", "object", "embed", "style", "base", "svg", "math":
			t.Errorf("<%s>", n.Data)
		case "script":
			if n.FirstChild != nil {
				t.Errorf("script in the page: %s", n.FirstChild.Data)
			}
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			case a.Key == "href" && external(n):
				if !strings.HasPrefix(a.Val, "http://localhost:") {
					t.Errorf("%q is not the web interface of the fake", a.Val)
				}
			case a.Key == "href" || a.Key == "src" || a.Key == "action":
				if to, err := url.Parse(a.Val); err != nil || to.Scheme != "" || to.Host != "" {
					t.Errorf("<%s %s=%q> leaves the server", n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

// external reports whether a link is marked as one to another server.
func external(n *html.Node) bool {
	return slices.Contains(n.Attr, html.Attribute{Key: "rel", Val: "external noreferrer"})
}

// TestHeaders: every response has the headers that restrict pages and caching.
func TestHeaders(t *testing.T) {
	srv := serve(t, &fake{n: 10})
	for _, path := range []string{"/", "/index.json", "/prometheuses/monitoring/none", "/static/x", "/nothing"} {
		resp, _ := get(t, srv, path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if got := resp.Header.Get("Cache-Control"); !strings.Contains(got, "no-") {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
	}
}

// TestStatic: files are cached by their content, under the names that pages use.
func TestStatic(t *testing.T) {
	srv := serve(t, &fake{})
	for path, up := range map[string]string{"/": "./", "/preview": "./", "/prometheuses/monitoring/k8s": "../../"} {
		_, body := get(t, srv, path)
		for n := range parsed(t, body).Descendants() {
			for _, a := range n.Attr {
				if n.Data != "script" && n.Data != "link" || !strings.Contains(a.Val, "static/") {
					continue
				}
				rest, ok := strings.CutPrefix(a.Val, up)
				resp, text := get(t, srv, "/"+rest)
				if !ok || resp.StatusCode != 200 || text == "" || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s: %s is %s, %q", path, a.Val, resp.Status, resp.Header.Get("Cache-Control"))
				}
				for _, outside := range []string{"http:", "https:", "//cdn", "@import", "url("} {
					if strings.Contains(text, outside) {
						t.Errorf("%s has %s", a.Val, outside)
					}
				}
			}
		}
	}
}

// TestLinks: every link of every page leads to a page, and every twin is JSON.
func TestLinks(t *testing.T) {
	srv := serve(t, &fake{n: 10})
	seen := map[string]bool{}
	for name, path := range paths {
		_, body := get(t, srv, path)
		base, _ := url.Parse(srv.URL + path)
		for n := range parsed(t, body).Descendants() {
			for _, a := range n.Attr {
				to, err := base.Parse(a.Val)
				if n.Data != "a" || a.Key != "href" || err != nil || external(n) || seen[to.RequestURI()] {
					continue
				}
				seen[to.RequestURI()] = true
				resp, answer := get(t, srv, to.RequestURI())
				if resp.StatusCode != 200 {
					t.Errorf("%s links to %s: %s", name, to.RequestURI(), resp.Status)
				}
				if is := strings.HasSuffix(to.Path, ".json"); is != json.Valid([]byte(answer)) || is != (resp.Header.Get("Content-Type") == "application/json") {
					t.Errorf("%s: %s is %s", name, to.RequestURI(), resp.Header.Get("Content-Type"))
				}
			}
		}
		if path != "/preview" && !strings.Contains(body, ".json") {
			t.Errorf("%s names no twin", name)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d links", len(seen))
	}
}

// TestTwins: the twin of a page is the unchanged response.
func TestTwins(t *testing.T) {
	f := &fake{n: 10}
	srv := serve(t, f)
	for path, want := range map[string]func() (any, error){
		"/index.json": func() (any, error) {
			return f.Overview(t.Context(), nil, insight.OverviewQuery{Page: insight.Page{Limit: 100}})
		},
		"/prometheuses/monitoring/k8s.json?tab=targets": func() (any, error) {
			return f.Targets(t.Context(), nil, insight.TargetQuery{Page: insight.Page{Limit: 100}})
		},
		"/index.json?limit=3": func() (any, error) {
			return f.Overview(t.Context(), nil, insight.OverviewQuery{Page: insight.Page{Limit: 3}})
		},
		"/pods/demo/web-0.json": func() (any, error) {
			return f.Targets(t.Context(), nil, insight.TargetQuery{Page: insight.Page{Limit: 100}})
		},
		"/servicemonitors/demo/web.json?tab=targets&q=10": func() (any, error) {
			return f.Targets(t.Context(), nil, insight.TargetQuery{Page: insight.Page{Limit: 100}})
		},
	} {
		resp, body := get(t, srv, path)
		answer, err := want()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(body)); err != nil || b.String() != string(text) {
			t.Errorf("%s: %s\n%s\nwant %s", path, resp.Status, body, text)
		}
		r, _ := http.NewRequest("GET", srv.URL+path, nil)
		r.Header.Set("If-None-Match", resp.Header.Get("ETag"))
		if resp, body := send(t, r); resp.StatusCode != 304 || body != "" {
			t.Errorf("%s asked twice: %s", path, resp.Status)
		}
	}
}

// TestParts: the links from part to part lead to each row once.
func TestParts(t *testing.T) {
	srv := serve(t, &fake{n: 250})
	seen := map[string]int{}
	path, parts := "/prometheuses/monitoring/k8s?tab=targets&state=kept", 0
	for path != "" && parts < 20 {
		_, body := get(t, srv, path)
		parts++
		base, _ := url.Parse(srv.URL + path)
		path = ""
		for n := range parsed(t, body).Descendants() {
			var href, rel string
			for _, a := range n.Attr {
				switch a.Key {
				case "href":
					href = a.Val
				case "rel":
					rel = a.Val
				}
			}
			to, _ := base.Parse(href)
			switch {
			case n.Data == "a" && rel == "next":
				path = to.RequestURI()
			case n.Data == "a" && strings.HasSuffix(to.Path, "/target"):
				seen[to.Query().Get("id")]++
			}
		}
		if path != "" && !strings.Contains(path, "state=kept") {
			t.Fatalf("the next part loses the filter: %s", path)
		}
	}
	if len(seen) != 250 {
		t.Errorf("%d targets in %d parts", len(seen), parts)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
}

// TestNames: an object whose name ends in .json has a page and a twin.
func TestNames(t *testing.T) {
	srv := serve(t, &fake{n: 3, odd: func(s string) string { return s + ".json" }})
	_, body := get(t, srv, "/prometheuses/monitoring/k8s")
	if !strings.Contains(body, `href="../../servicemonitors/demo/web-0.json/"`) {
		t.Errorf("no link to a page\n%s", body)
	}
	if resp, body := get(t, srv, "/servicemonitors/demo/web-0.json/"); resp.StatusCode != 200 || !strings.Contains(body, "<h1>ServiceMonitor demo/web-0.json</h1>") || !strings.Contains(body, `web-0.json.json"`) {
		t.Errorf("%s\n%s", resp.Status, body)
	}
	if _, body := get(t, srv, "/servicemonitors/demo/web-0.json.json"); !strings.Contains(body, `"name": "web-0.json"`) {
		t.Error(body)
	}
	resp, _ := get(t, srv, "/go?kind=ServiceMonitor&namespace=demo&name=web.json")
	if got := fmt.Sprint(resp.StatusCode, resp.Header.Get("Location")); got != "303./servicemonitors/demo/web.json/" && got != "303 ./servicemonitors/demo/web.json/" {
		t.Errorf("go: %s", got)
	}
}
