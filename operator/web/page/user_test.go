package page_test

import (
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// elements returns the elements of a page with an attribute, as text.
func elements(t *testing.T, body, tag, attribute, value string) (out []string) {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		if n.Type != html.ElementNode || n.Data != tag {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == attribute && (a.Val == value || value == "") {
				var b strings.Builder
				for c := range n.Descendants() {
					if c.Type == html.TextNode {
						b.WriteString(c.Data)
					}
				}
				out = append(out, strings.Join(strings.Fields(b.String()), " "))
			}
		}
	}
	return out
}

// TestNumbersFilter: the line of numbers links to the workloads of each level.
func TestNumbersFilter(t *testing.T) {
	f := &fake{n: 9}
	srv := serve(t, f)
	_, body := get(t, srv, "/?q=k8s")
	if read := text(t, body); !strings.Contains(read, "9 workloads: 3 good · 3 warnings · 3 paused or not known as of 12:00:00 UTC") {
		t.Errorf("no line of numbers:\n%.400s", read)
	}
	if !strings.Contains(body, `href="?level=warning&amp;q=k8s"`) {
		t.Error("the numbers do not filter")
	}
	_, body = get(t, srv, "/?q=k8s&level=warning")
	if q, is := f.queries[len(f.queries)-1].(insight.OverviewQuery); !is || q.Level != insight.LevelWarning || q.Filter != "k8s" {
		t.Errorf("asked for %+v", f.queries)
	}
	if got := elements(t, body, "a", "aria-current", "true"); fmt.Sprint(got) != "[3 warnings]" || !strings.Contains(body, `name="level" value="warning"`) {
		t.Errorf("current: %v", got)
	}
	if resp, _ := get(t, srv, "/?level=bad"); resp.StatusCode != 400 {
		t.Error(resp.Status)
	}
}

// TestAttentionTogether: equal problems are one row with a number, and their places in a list that
// opens without a script.
func TestAttentionTogether(t *testing.T) {
	for path, has := range map[string]string{
		"/": "39 ServiceMonitors ServiceMonitor demo/web-0 in Prometheus monitoring/k8s",
		"/prometheuses/monitoring/k8s?tab=attention": "39 ServiceMonitors ServiceMonitor demo/web-0 ServiceMonitor demo/web-1",
	} {
		_, body := get(t, serve(t, &fake{n: 30}), path)
		if read := text(t, body); !strings.Contains(read, has) || !strings.Contains(read, "20 more Urgency") {
			t.Errorf("%s:\n%.900s", path, read)
		}
		if strings.Contains(text(t, body), "correct the field") {
			t.Error("a remedy that says nothing")
		}
		if copies := elements(t, body, "button", "class", "copy"); len(copies) == 0 || !strings.Contains(body, "<code>kubectl -n monitoring logs prometheus-k8s-1 --all-containers --tail=50</code>") {
			t.Errorf("%s: no command to copy", path)
		}
	}
}

// TestTabIsTheContent: other tabs have the number of problems, not the problems.
func TestTabIsTheContent(t *testing.T) {
	srv := serve(t, &fake{n: 12})
	for _, tab := range []string{"feeds", "pods", "targets", "config", "events"} {
		_, body := get(t, srv, "/prometheuses/monitoring/k8s?tab="+tab)
		if strings.Contains(body, `class="attention"`) {
			t.Errorf("%s: has the problems", tab)
		}
		if read := text(t, body); !strings.Contains(read, "Feeds Attention 12 Pods") || !strings.Contains(read, "Reconciled: True") || !strings.Contains(read, "Available: Degraded") {
			t.Errorf("%s:\n%.600s", tab, read)
		}
	}
}

// TestList: lists by kind can be filtered by namespace and state, and workloads are on the overview.
func TestList(t *testing.T) {
	f := &fake{n: 250}
	srv := serve(t, f)
	_, body := get(t, srv, "/servicemonitors?namespace=demo&state=rejected&q=web")
	q, is := f.queries[len(f.queries)-1].(insight.ObjectQuery)
	if !is || q.Row != catalog.ServiceMonitor || q.Namespace != "demo" || q.State != "rejected" || q.Filter != "web" {
		t.Errorf("asked for %+v", q)
	}
	for _, has := range []string{`<h1>ServiceMonitors</h1>`, `href="./servicemonitors/demo/web-1"`, `rel="next"`, `href="./servicemonitors.json?namespace=demo&amp;q=web&amp;state=rejected"`} {
		if !strings.Contains(body, has) {
			t.Errorf("no %s\n%.2000s", has, body)
		}
	}
	for path, to := range map[string]string{
		"/prometheuses?namespace=demo":                 "./?kind=Prometheus&namespace=demo",
		"/go?kind=ServiceMonitor&namespace=demo&name=": "./servicemonitors?namespace=demo",
		"/go?kind=Probe&name=web":                      "./probes?q=web",
		"/go?kind=Probe&namespace=demo&name=web":       "./probes/demo/web",
	} {
		if resp, _ := get(t, srv, path); resp.StatusCode != 303 || resp.Header.Get("Location") != to {
			t.Errorf("%s: %s to %s", path, resp.Status, resp.Header.Get("Location"))
		}
	}
	for path, code := range map[string]int{"/servicemonitors?state=x": 400, "/servicemonitors?job=x": 400, "/secrets": 404, "/secrets.json": 404} {
		if resp, _ := get(t, srv, path); resp.StatusCode != code {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// TestDidYouMean: a wrong name or kind suggests what exists.
func TestDidYouMean(t *testing.T) {
	f := &fake{n: 3}
	srv := serve(t, f)
	for path, has := range map[string]string{
		"/prometheuses/monitoring/none": `Did you mean <a href="../../prometheuses/monitoring/k8s">Prometheus monitoring/k8s</a>?`,
		"/servicemonitor/demo/web":      `Did you mean <a href="../../servicemonitors/demo/web">ServiceMonitor demo/web</a>?`,
		"/smon/demo/web":                `Did you mean <a href="../../servicemonitors/demo/web">`,
		"/servicemonitros/demo/web":     `Did you mean <a href="../../servicemonitors/demo/web">`,
	} {
		if resp, body := get(t, srv, path); resp.StatusCode != 404 || !strings.Contains(body, has) {
			t.Errorf("%s: %s\n%s", path, resp.Status, body)
		}
	}
	if _, body := get(t, srv, "/secrets/demo/web"); strings.Contains(body, "Did you mean") {
		t.Error("suggests something for Secrets")
	}
	refusing := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return f, nil }, Authorize: func(*http.Request, insight.Object) (access.Rights, error) {
		return nil, context.Canceled
	}})
	before := len(f.queries)
	if _, body := get(t, refusing, "/prometheuses/monitoring/none"); strings.Contains(body, "Did you mean") || len(f.queries) != before {
		t.Error("suggests names to a caller who may not get the object")
	}
}

// TestTargetsByJob: targets are grouped by job, those that are scraped first, and those of other
// Services only on request.
func TestTargetsByJob(t *testing.T) {
	f := &fake{n: 8}
	srv := serve(t, f)
	_, body := get(t, srv, "/servicemonitors/demo/web?tab=targets")
	if q := f.queries[len(f.queries)-1].(insight.TargetQuery); q.Skip != "spec.selector" {
		t.Errorf("asked for %+v", q)
	}
	read := text(t, body)
	if !strings.Contains(read, "of other Services or pods, which selectors do not select: 2") || !strings.Contains(read, "spec.endpoints[0].port : 2 targets") {
		t.Errorf("reasons:\n%.1500s", read)
	}
	groups := elements(t, body, "th", "scope", "rowgroup")
	if len(groups) != 1 || !strings.HasPrefix(groups[0], "serviceMonitor/demo/web/0:") {
		t.Errorf("groups: %q", groups)
	}
	if kept, dropped := strings.LastIndex(body, `<td class="st"><span class="s ok">kept`), strings.Index(body, `<td class="st"><span class="s off">dropped`); kept < 0 || dropped < kept {
		t.Errorf("the last kept one is at %d, the first dropped one at %d", kept, dropped)
	}
	for _, query := range []string{"&state=dropped", "&q=web", "&reason=spec.selector"} {
		get(t, srv, "/servicemonitors/demo/web?tab=targets"+query)
		if q := f.queries[len(f.queries)-1].(insight.TargetQuery); q.Skip != "" {
			t.Errorf("%s leaves out %s", query, q.Skip)
		}
	}
	c := changing{fake: &fake{n: 1}, targets: func(o *insight.Targets) {
		o.Jobs = []insight.JobCounts{{Workload: k8s, Job: "serviceMonitor/demo/web/0", Counts: preview.Counts{Kept: 3, Invalid: 1, Dropped: map[string]int{"spec.endpoints[0].port": 2, "spec.selector.matchLabels[a]": 102}}}}
	}}
	srv = serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	_, body = get(t, srv, "/prometheuses/monitoring/k8s?tab=targets")
	if groups := elements(t, body, "th", "scope", "rowgroup"); len(groups) != 1 || !strings.HasPrefix(groups[0], "serviceMonitor/demo/web/0: 3 kept, 2 dropped, 1 invalid; 102 of others from") {
		t.Errorf("groups: %q", groups)
	}
}

// TestOverlapsOfAPod: the page of a pod names the objects that scrape the same URL.
func TestOverlapsOfAPod(t *testing.T) {
	c := changing{fake: &fake{n: 1}, targets: func(o *insight.Targets) {
		o.Overlaps = []insight.Overlap{{Workload: k8s, URL: "http://10.0.0.1/metrics", Jobs: 31, Objects: []catalog.Ref{{Kind: "ServiceMonitor", Namespace: "demo", Name: "a"}, {Kind: "PodMonitor", Namespace: "demo", Name: "b"}}}}
	}}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	_, body := get(t, srv, "/pods/demo/web-0")
	if read := text(t, body); !strings.Contains(read, "Prometheus monitoring/k8s scrapes http://10.0.0.1/metrics in 31 jobs, of ServiceMonitor demo/a , PodMonitor demo/b .") {
		t.Errorf("%.900s", read)
	}
}

// TestManifestOfARejectedObject: the page marks the line of the field, and has the form to try a
// change, with the manifest as written only on request.
func TestManifestOfARejectedObject(t *testing.T) {
	c := changing{fake: &fake{n: 300}, explain: func(r *explain.Report) {
		r.Workloads = []explain.Result{{Workload: k8s, Reason: explain.Rejected, Message: `spec.endpoints[200].interval: "10 s" is not a duration`}}
	}}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	_, body := get(t, srv, "/servicemonitors/demo/web")
	if marked := elements(t, body, "mark", "id", ""); fmt.Sprint(marked) != "[interval: 10 s]" || !strings.Contains(body, "/metrics-200&#34;") || strings.Contains(body, "/metrics-0&#34;") {
		t.Errorf("marked: %q", marked)
	}
	if read := text(t, body); !strings.Contains(read, `Line 608 : spec.endpoints[200].interval: "10 s" is not a duration`) {
		t.Errorf("does not say why:\n%.900s", read)
	}
	if strings.Contains(body, "as written\n") || !strings.Contains(body, `href="?edit=1#edit"`) {
		t.Error("shows it as written, or no link to that")
	}
	if _, body := get(t, srv, "/servicemonitors/demo/web?edit=1"); strings.Contains(body, "<mark") {
		t.Error("both")
	}
	small := serve(t, &fake{n: 5})
	if _, body := get(t, small, "/servicemonitors/demo/web?edit=1"); !strings.Contains(body, "# as written\n</textarea>") || !strings.Contains(body, `action="../../preview"`) {
		t.Errorf("no form\n%s", body)
	}
	c.explain = func(r *explain.Report) { r.Workloads = nil }
	srv = serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	if _, body := get(t, srv, "/servicemonitors/demo/web"); strings.Contains(body, `class="manifest"`) {
		t.Error("the manifest of an object that nothing rejects")
	}
}

// TestColumnsWithoutValues: columns that have no values are left out.
func TestColumnsWithoutValues(t *testing.T) {
	c := changing{fake: &fake{n: 4}, overview: func(o *insight.Overview) {
		for i := range o.Workloads {
			o.Workloads[i] = insight.WorkloadRow{Ref: o.Workloads[i].Ref, State: insight.Good}
		}
	}}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	if _, body := get(t, srv, "/"); strings.Contains(body, "Config changed") {
		t.Error("a column of times that are not known")
	}
	if _, body := get(t, serve(t, &fake{n: 4}), "/"); !strings.Contains(body, "Config changed") {
		t.Error("no column of times")
	}
}

// TestWebInterface: a workload links to spec.externalUrl, or has a command that forwards a port. The page of targets
// shows that their health is unknown.
func TestWebInterface(t *testing.T) {
	c := changing{fake: &fake{n: 1}}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return &c, nil }, Authorize: anything})
	if _, body := get(t, srv, "/prometheuses/monitoring/k8s"); !strings.Contains(body, "<code>kubectl -n monitoring port-forward pod/prometheus-k8s-0 9090</code>") || !strings.Contains(body, `href="http://localhost:9090/" rel="external noreferrer"`) {
		t.Errorf("no command\n%.3000s", body)
	}
	c.workload = func(w *insight.Workload) { w.UI = &insight.UI{URL: "https://prom.example/x"} }
	_, body := get(t, srv, "/prometheuses/monitoring/k8s?tab=targets")
	if !strings.Contains(body, `href="https://prom.example/x/targets" rel="external noreferrer"`) || !strings.Contains(body, "Whether they are up, its servers know") {
		t.Errorf("no link\n%.3000s", body)
	}
}

// TestLastChanges: a workload lists its last changes with times.
func TestLastChanges(t *testing.T) {
	_, body := get(t, serve(t, &fake{n: 5}), "/prometheuses/monitoring/k8s?tab=events")
	if read := text(t, body); !strings.Contains(read, "rejected ServiceMonitor demo/web-3") || !strings.Contains(body, `<time datetime="2026-03-01T12:00:00Z"`) {
		t.Errorf("%.1500s", read)
	}
}

// TestDeliveryOfChanges: a workload shows how its last changes have reached the pods.
func TestDeliveryOfChanges(t *testing.T) {
	_, body := get(t, serve(t, &fake{n: 4}), "/prometheuses/monitoring/k8s?tab=events")
	read := text(t, body)
	for _, want := range []string{
		"12:00:03.120 UTC", "ServiceMonitor demo/web-0 +2 ms +18 ms +25 ms +140 ms +170 ms",
		"ServiceMonitor demo/web-1 +2 ms +18 ms +25 ms +140 ms 1 of 2 pods, +1.7 s",
		"an object that you may not get (7 events in all) +2 ms +18 ms +25 ms not confirmed before the next change not confirmed before the next change",
		"a periodic check, or the start of the operator +2 ms +18 ms +25 ms +1m20s no rejected by 1 of 2 pods",
	} {
		if !strings.Contains(read, want) {
			t.Errorf("no %q in\n%.3000s", want, read)
		}
	}
	if !strings.Contains(body, `href="../../servicemonitors/demo/web-1"`) {
		t.Error("no link to an object")
	}
	if _, body := get(t, serve(t, &fake{n: 0}), "/prometheuses/monitoring/k8s?tab=events"); strings.Contains(body, "Delivery of") {
		t.Error("a heading without changes")
	}
}

// TestPreviewOfAFile: the form of the preview takes a file instead of text.
func TestPreviewOfAFile(t *testing.T) {
	f := &fake{n: 1}
	srv := serve(t, f)
	for name, content := range map[string]string{"a file": "kind: ServiceMonitor # of a file", "no file": ""} {
		var b strings.Builder
		form := multipart.NewWriter(&b)
		_ = form.WriteField("manifests", "kind: ServiceMonitor # typed")
		if content != "" {
			w, _ := form.CreateFormFile("file", "a.yaml")
			_, _ = w.Write([]byte(content))
		}
		_ = form.Close()
		r, _ := http.NewRequest("POST", srv.URL+"/preview", strings.NewReader(b.String()))
		r.Header.Set("Content-Type", form.FormDataContentType())
		resp, _ := send(t, r)
		want := content
		if want == "" {
			want = "kind: ServiceMonitor # typed"
		}
		if got := f.queries[len(f.queries)-1]; resp.StatusCode != 200 || got != want {
			t.Errorf("%s: %s, %v", name, resp.Status, got)
		}
	}
}

// TestCountsInWords: counts leave out the targets of other Services.
func TestCountsInWords(t *testing.T) {
	c := changing{fake: &fake{n: 0}, targets: func(o *insight.Targets) {
		o.Counts, o.Synced = preview.Counts{Kept: 1, Dropped: map[string]int{"spec.selector": 102, "spec.endpoints[0].port": 3}}, true
		o.Items = []preview.Target{{Workload: k8s, Target: targets.Target{Job: "x", State: targets.Kept, URL: "http://10.0.0.1/"}}}
	}}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	_, body := get(t, srv, "/servicemonitors/demo/web")
	if read := text(t, body); !strings.Contains(read, "Targets 1 target, 3 dropped Labels") {
		t.Errorf("%.900s", read)
	}
}
