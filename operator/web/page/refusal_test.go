package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// TestRefusals: an error is a page with a suggestion, and a Status in the twin.
func TestRefusals(t *testing.T) {
	prometheuses := schema.GroupResource{Group: "monitoring.coreos.com", Resource: "prometheuses"}
	for name, tc := range map[string]struct {
		path, twin string
		authorize  error
		answers    error // of Answers()
		answer     error // of the other methods
		code       int
		has        string
	}{
		"not signed in":  {"/", "/index.json", apierrors.NewUnauthorized("no valid bearer token"), errors.New("not asked"), nil, 401, "operator ui"},
		"no permission":  {"/prometheuses/a/b", "/prometheuses/a/b.json", apierrors.NewForbidden(prometheuses, "b", errors.New("user jane")), errors.New("not asked"), nil, 403, "RBAC"},
		"starting":       {"/", "/index.json", nil, apierrors.NewServiceUnavailable("caches are not complete"), nil, 503, "caches are not complete"},
		"absent":         {"/prometheuses/a/none", "/prometheuses/a/none.json", nil, nil, nil, 404, "Check kind, namespace and name"},
		"no such kind":   {"/secrets/a/b", "/secrets/a/b.json", nil, nil, nil, 404, "/secrets/a/b"},
		"no such path":   {"/favicon.ico", "/a/b/c/d.json", nil, nil, nil, 404, "Overview"},
		"busy":           {"/", "/index.json", nil, nil, apierrors.NewTooManyRequests("20 at a time", 7), 429, "20 at a time"},
		"broken":         {"/", "/index.json", nil, nil, errors.New("index out of range"), 500, "A fault of these pages"},
		"too slow":       {"/", "/index.json", nil, nil, fmt.Errorf("read targets: %w", context.DeadlineExceeded), 504, "what was read is kept"},
		"long name":      {"/go?kind=Pod&namespace=demo&name=" + strings.Repeat("x", 254), "/index.json?go=x", nil, nil, nil, 400, "longer than 253 characters"},
		"upward":         {"/go?kind=Pod&namespace=..&name=..", "/index.json?go=y", nil, nil, nil, 400, "not a name that an object can have"},
		"parameter":      {"/?tabb=x", "/index.json?tabb=x", nil, nil, nil, 400, "tabb"},
		"twice":          {"/?q=x&q=y", "/index.json?q=x&q=y", nil, nil, nil, 400, "given 2 times"},
		"limit":          {"/?limit=1000", "/index.json?limit=0", nil, nil, nil, 400, "from 1 to 100"},
		"tab":            {"/prometheuses/a/b?tab=routes", "/prometheuses/a/b.json?tab=routes", nil, nil, nil, 400, "routes"},
		"state":          {"/prometheuses/a/b?state=x", "/prometheuses/a/b.json?tab=targets&state=x", nil, nil, nil, 400, "want one of"},
		"shard":          {"/prometheuses/a/b?tab=targets&shard=-1", "/prometheuses/a/b.json?tab=targets&shard=x", nil, nil, nil, 400, "want a number from 0"},
		"no target":      {"/prometheuses/a/b/target?job=x", "/prometheuses/a/b/target.json?id=x", nil, nil, nil, 400, "not given"},
		"labels of pods": {"/alertmanagers/a/b?tab=routes&label=x", "/alertmanagers/a/b.json?tab=routes&label=x", nil, nil, nil, 400, "NAME=VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{n: 3, err: tc.answer}
			srv := serveWith(t, page.Options{
				Answers: func() (insight.Answers, error) { return f, tc.answers },
				Authorize: func(r *http.Request, o insight.Object) (access.Rights, error) {
					if tc.authorize != nil {
						return nil, tc.authorize
					}
					return anything(r, o)
				},
			})
			resp, body := get(t, srv, tc.path)
			if resp.StatusCode != tc.code || !strings.Contains(body, tc.has) || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				t.Errorf("%s, want %d %q\n%s", resp.Status, tc.code, tc.has, body)
			}
			tame(t, body)
			twin, body := get(t, srv, tc.twin)
			var status metav1.Status
			if err := json.Unmarshal([]byte(body), &status); err != nil || twin.StatusCode != tc.code || status.Kind != "Status" || int(status.Code) != tc.code {
				t.Errorf("the twin is %s %s", twin.Status, body)
			}
			for header, code := range map[string]int{"WWW-Authenticate": 401, "Retry-After": tc.code} {
				if want := header == "WWW-Authenticate" && tc.code == code || header == "Retry-After" && (code == 429 || code == 503); want != (resp.Header.Get(header) != "") {
					t.Errorf("%s is %q", header, resp.Header.Get(header))
				}
			}
		})
	}
}

// TestMethods: only the preview accepts POST.
func TestMethods(t *testing.T) {
	srv := serve(t, &fake{n: 3})
	for _, path := range []string{"/", "/prometheuses/a/b", "/pods/a/b", "/events", "/index.json"} {
		if resp, _ := post(t, srv, path, "x"); resp.StatusCode != 405 {
			t.Errorf("POST %s: %s", path, resp.Status)
		}
	}
	if resp, body := get(t, srv, "/preview.json"); resp.StatusCode != 400 {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestAuthorizesTheObjectOfThePage: the caller is authorized for the object that the page shows.
func TestAuthorizesTheObjectOfThePage(t *testing.T) {
	var authorized []string
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return &fake{n: 3}, nil }, Authorize: func(r *http.Request, o insight.Object) (access.Rights, error) {
		kind := ""
		if o.Row != nil {
			kind = o.Resource
		}
		authorized = append(authorized, kind+" "+o.NamespacedName.String())
		return anything(r, o)
	}})
	for path, want := range map[string]string{
		"/":                                   " /",
		"/index.json":                         " /",
		"/preview":                            " /",
		"/prometheuses/a/b":                   "prometheuses a/b",
		"/prometheuses/a/b.json":              "prometheuses a/b",
		"/prometheuses/a/b/target?job=j&id=i": "prometheuses a/b",
		"/prometheuses/a/b.json/target?job=j&id=i": "prometheuses a/b.json",
		"/servicemonitors/a/b.json/":               "servicemonitors a/b.json",
		"/pods/a/b.json":                           " a/b",
	} {
		authorized = nil
		get(t, srv, path)
		if got := strings.Join(authorized, ", "); got != want {
			t.Errorf("%s asks for %q, want %q", path, got, want)
		}
	}
}

// TestPreview: the response to the form has the targets and the manifests for further edits.
func TestPreview(t *testing.T) {
	f := &fake{n: 3}
	srv := serve(t, f)
	const manifest = "kind: ServiceMonitor\r\nmetadata: {name: <web>}\r\n"
	resp, body := post(t, srv, "/preview", manifest)
	if resp.StatusCode != 200 || !strings.Contains(body, "3 targets, 2 dropped") || !strings.Contains(body, "kind: ServiceMonitor\nmetadata: {name: &lt;web&gt;}\n</textarea>") {
		t.Errorf("%s\n%s", resp.Status, body)
	}
	if got := fmt.Sprint(f.queries); got != "[kind: ServiceMonitor\nmetadata: {name: <web>}\n]" {
		t.Errorf("asked for %q", got)
	}
	large := &fake{n: 2000, odd: hostile["long"]}
	if resp, _ := post(t, serve(t, large), "/preview", manifest); resp.StatusCode != 200 || len(large.queries) != 1 {
		t.Errorf("%s: %d previews for a page that is too long at first", resp.Status, len(large.queries))
	}
	if resp, body := post(t, srv, "/preview", "kind: Broken"); resp.StatusCode != 400 || !strings.Contains(body, "unknown kind") || !strings.Contains(body, "kind: Broken\n</textarea>") && !strings.Contains(body, "kind: Broken</textarea>") {
		t.Errorf("%s\n%s", resp.Status, body)
	}
	if resp, body := post(t, srv, "/preview", " "); resp.StatusCode != 400 || !strings.Contains(body, "manifests") {
		t.Errorf("%s\n%s", resp.Status, body)
	}
	for _, size := range []int{1<<20 + 1, 3 << 20} {
		if resp, _ := post(t, srv, "/preview", strings.Repeat("a", size)); resp.StatusCode != 413 {
			t.Errorf("%d bytes: %s", size, resp.Status)
		}
	}
	if resp, body := post(t, srv, "/preview", "# "+strings.Repeat("a", 900_000)); resp.StatusCode != 200 || len(body) > 60_000 || !strings.Contains(body, "too long to be shown") {
		t.Errorf("%s %d bytes", resp.Status, len(body))
	}

	r, _ := http.NewRequest("POST", srv.URL+"/preview.json", strings.NewReader(manifest))
	r.Header.Set("Content-Type", "application/yaml")
	resp, body = send(t, r)
	var report preview.Report
	if err := json.Unmarshal([]byte(body), &report); err != nil || resp.StatusCode != 200 || report.Counts.Kept != 3 {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestSteps: each step shows its changes with the previous values.
func TestSteps(t *testing.T) {
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return traced{}, nil }, Authorize: anything})
	_, body := get(t, srv, paths["target"])
	var rows []string
	for n := range parsed(t, body).Descendants() {
		if n.Data == "tr" && n.Parent.Data == "tbody" && n.Parent.Parent.Attr[0].Val == "changes" {
			var row []string
			for c := range n.Descendants() {
				if c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
					row = append(row, strings.TrimSpace(c.Data))
				}
			}
			rows = append(rows, strings.Join(row, "|"))
		}
	}
	want := []string{"+ added|tier|front", "~ changed|tier|front|→ back", "~ changed|job|a|→ b", "− removed|job|b"}
	if !slices.Equal(rows, want) {
		t.Errorf("steps are %q, want %q", rows, want)
	}
}

// traced returns one target.
type traced struct{ insight.Answers }

func (traced) Target(context.Context, access.Rights, insight.Object, string, string, string) (*insight.Trace, error) {
	out := &insight.Trace{Steps: []insight.Step{
		{Added: map[string]string{"tier": "front"}}, {Changed: map[string]string{"tier": "back"}}, {Changed: map[string]string{"job": "b"}}, {Removed: []string{"job"}, Drops: true},
	}}
	out.Target.Discovered = map[string]string{"job": "a"}
	return out, nil
}

// searching returns no target on the first page.
type searching struct{ insight.Answers }

func (searching) Targets(_ context.Context, _ access.Rights, q insight.TargetQuery) (*insight.Targets, error) {
	out := &insight.Targets{Synced: true, Part: insight.Part{Total: 9}}
	if q.Continue == "" {
		out.Continue = "more"
	}
	return out, nil
}

// TestSearchGoesOn: if few of many targets match, a page without matches shows that there are more pages instead of
// claiming that there are no matches.
func TestSearchGoesOn(t *testing.T) {
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return searching{}, nil }, Authorize: anything})
	_, body := get(t, srv, "/pods/demo/web-0?q=needle")
	if !strings.Contains(body, `rel="next"`) || !strings.Contains(body, "None is found so far") || strings.Contains(body, "Show all") {
		t.Errorf("the first page: %s", body)
	}
	_, body = get(t, srv, "/pods/demo/web-0?q=needle&continue=more")
	if strings.Contains(body, `rel="next"`) || !strings.Contains(body, "First page") || !strings.Contains(body, "No more are found") {
		t.Errorf("the last page: %s", body)
	}
}

// TestOtherSites: no other site can send the form through a browser.
func TestOtherSites(t *testing.T) {
	srv := serve(t, &fake{n: 3})
	for name, tc := range map[string]struct {
		headers []string
		code    int
	}{
		"the page itself":                {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "null"}, 200},
		"a program":                      {nil, 200},
		"plain HTTP, where nobody knows": {[]string{"Origin", "null"}, 200},
		"another site":                   {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, 403},
		"another site, older browser":    {[]string{"Origin", "https://evil.example"}, 403},
	} {
		resp, body := post(t, srv, "/preview", "kind: ServiceMonitor", tc.headers...)
		if resp.StatusCode != tc.code {
			t.Errorf("%s: %s", name, resp.Status)
		}
		if own := strings.Contains(body, "from its own address"); own != (tc.code == 403) || strings.Contains(body, "RBAC") {
			t.Errorf("%s: does not say what to do\n%s", name, body)
		}
	}
}

// TestUnknownTab: a table that is unavailable shows the reason and does not affect the rest of the
// page.
func TestUnknownTab(t *testing.T) {
	srv := serve(t, &fake{n: 3, tabErr: apierrors.NewServiceUnavailable("the operator may not list endpointslices")})
	for _, path := range []string{"/prometheuses/monitoring/k8s?tab=targets", "/prometheuses/monitoring/k8s?tab=pods", "/prometheuses/monitoring/k8s?tab=config", "/servicemonitors/demo/web", "/servicemonitors/demo/web?tab=targets"} {
		resp, body := get(t, srv, path)
		if resp.StatusCode != 200 || !strings.Contains(strings.ToLower(body), "unknown, because the operator may not list endpointslices") || strings.Contains(body, "no targets") {
			t.Errorf("%s: %s\n%s", path, resp.Status, body)
		}
	}
	if resp, body := get(t, srv, "/prometheuses/monitoring/k8s.json?tab=targets"); resp.StatusCode != 503 || !strings.Contains(body, `"kind":"Status"`) {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestNotSynced: while the cluster is read, a page does not claim that there are no targets.
func TestNotSynced(t *testing.T) {
	srv := serve(t, &fake{reading: true})
	for _, path := range []string{"/prometheuses/a/b?tab=targets", "/servicemonitors/a/b", "/servicemonitors/a/b?tab=targets", "/pods/a/b"} {
		if _, body := get(t, srv, path); strings.Contains(body, "no targets") || !strings.Contains(body, "no target is known") {
			t.Errorf("%s says\n%s", path, body)
		}
	}
}

// TestResharding: the form remains, and shows why a number of shards is not possible.
func TestResharding(t *testing.T) {
	srv := serve(t, &fake{n: 3})
	for query, want := range map[string]string{
		"3":    "3 targets",
		"9":    "there are none",
		"0":    "want a number from 1 to 1000",
		"many": "want a number from 1 to 1000",
	} {
		resp, body := get(t, srv, "/prometheuses/a/b?tab=shards&shards="+query)
		if code := map[bool]int{true: 200, false: 400}[query == "3"]; resp.StatusCode != code || !strings.Contains(body, want) || !strings.Contains(body, `name="shards"`) {
			t.Errorf("%s: %s, does not say %q\n%s", query, resp.Status, want, body)
		}
	}
}

// TestEmpty: a page without rows suggests what to do next.
func TestEmpty(t *testing.T) {
	srv := serve(t, &fake{})
	for path, want := range map[string]string{
		"/":                                  "Apply one",
		"/?q=x":                              "Show all",
		"/prometheuses/a/b":                  "before you apply it",
		"/prometheuses/a/b?q=x":              "Show all",
		"/prometheuses/a/b?tab=pods":         "The conditions above say why",
		"/prometheuses/a/b?tab=targets":      "see <a href=\"?tab=feeds\">Feeds</a>",
		"/prometheuses/a/b?tab=targets&q=10": "Show all",
		"/prometheuses/a/b?tab=config":       "The conditions above say why",
		"/prometheuses/a/b?tab=shards":       "which starts finding them",
		"/servicemonitors/a/b":               "spec.serviceMonitorSelector: {}",
		"/servicemonitors/a/b?tab=targets":   "<a href=\"?tab=workloads\">Workloads</a> for hints",
		"/alertmanagerconfigs/a/b":           "an Alertmanager with <code>spec.alertmanagerConfigSelector: {}",
		"/pods/a/b":                          "No workload scrapes this pod",
	} {
		if resp, body := get(t, srv, path); resp.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %s, does not say %q\n%s", path, resp.Status, want, body)
		}
	}
}

// BenchmarkPage measures the cost of a page apart from its response.
func BenchmarkPage(b *testing.B) {
	f := &fake{n: 1000}
	h := page.New(page.Options{Answers: func() (insight.Answers, error) { return f, nil }, Authorize: anything})
	for _, name := range []string{"overview", "feeds", "targets", "target"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", paths[name], nil))
				if w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
