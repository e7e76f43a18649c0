package page_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// TestHealth: the servers are queried for the health of targets only on request, and a row has the last scrape of its
// target.
func TestHealth(t *testing.T) {
	f := &fake{n: 8}
	srv := serve(t, f)
	_, body := get(t, srv, "/prometheuses/monitoring/k8s?tab=targets")
	if !strings.Contains(body, `<a href="?health=1&amp;tab=targets">ask its servers</a>`) || strings.Contains(fmt.Sprint(f.queries), "scrapes of") {
		t.Errorf("asked for %v\n%.3000s", f.queries, body)
	}
	_, body = get(t, srv, "/prometheuses/monitoring/k8s?tab=targets&health=1")
	if asked := fmt.Sprint(f.queries[len(f.queries)-1]); asked != "scrapes of Prometheus monitoring/k8s, 8 targets" {
		t.Errorf("asked for %s", asked)
	}
	read := text(t, body)
	for _, has := range []string{
		"Pod prometheus-k8s-0, shard 0: 1 up 1 down", "Pod prometheus-k8s-1, shard 1: unknown, you may not get pods/proxy", "Its servers were asked at 12:00:00 UTC",
		"ago in 15ms: connection refused; nothing listens on this address", "http://10.0.0.1:8080/metrics up", "http://10.0.0.4:8080/metrics no server has it",
	} {
		if !strings.Contains(read, has) {
			t.Errorf("does not say %q:\n%s", has, read)
		}
	}
	if !strings.Contains(body, `name="health" value="1"`) {
		t.Error("a filter forgets it")
	}
	_, body = get(t, serve(t, &fake{n: 16}), "/prometheuses/monitoring/k8s?tab=targets&health=1")
	if down, up := strings.Index(body, "http://10.0.0.8:8080"), strings.Index(body, "http://10.0.0.1:8080"); down < 0 || up < down {
		t.Error("targets that are down are not before those that are up")
	}
	if strings.Contains(body, "data-live") {
		t.Error("each refresh of the page asks the servers")
	}
	for _, path := range []string{"/servicemonitors/demo/web?tab=targets", "/pods/demo/web-0"} {
		if _, body := get(t, srv, path); !strings.Contains(body, `<a href="../../prometheuses/monitoring/k8s?tab=targets&amp;health=1">Prometheus monitoring/k8s</a>`) {
			t.Errorf("%s: no link to the health", path)
		}
	}
}

// TestHealthUnknown: if servers cannot be queried, the page shows the reason, and its rows are the same.
func TestHealthUnknown(t *testing.T) {
	need := "you need permission to get pods/proxy in namespace monitoring"
	f := &fake{n: 8}
	c := changing{fake: f, workload: func(w *insight.Workload) { w.CanQuery, w.QueryDenied = false, need }}
	srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
	_, body := get(t, srv, "/prometheuses/monitoring/k8s?tab=targets")
	if read := text(t, body); strings.Contains(read, "ask its servers") || !strings.Contains(read, "Whether they are up is unknown here: "+need+"; see the page /targets of its web interface.") {
		t.Errorf("does not say why\n%.1500s", read)
	}
	rows := strings.Count(body, "<tr")
	refused := refusing{c, apierrors.NewServiceUnavailable(need)}
	srv = serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return refused, nil }, Authorize: anything})
	_, body = get(t, srv, "/prometheuses/monitoring/k8s?tab=targets&health=1")
	if read := text(t, body); !strings.Contains(read, "Whether the targets are up is unknown: "+need+".") || strings.Count(body, "<tr") != rows || strings.Contains(read, "Last scrape") {
		t.Errorf("%.1500s", read)
	}
}

// refusing does not query servers.
type refusing struct {
	insight.Answers
	err error
}

func (r refusing) Scrapes(context.Context, access.Rights, insight.Object, []preview.Target) (*insight.Scrapes, error) {
	return nil, r.err
}

// TestManyTargetsFold: jobs with many targets are folded without a script, those with problems are open
// and first. A single job is not folded.
func TestManyTargetsFold(t *testing.T) {
	some := func(job string, n int, state targets.State) (out []preview.Target) {
		for i := range n {
			out = append(out, preview.Target{Workload: k8s, Object: catalog.Ref{Kind: "PodMonitor", Namespace: "demo", Name: job}, Target: targets.Target{ID: fmt.Sprint(i), Job: job, State: state, URL: "http://" + job + "/", Shards: []int{}}})
		}
		return out
	}
	show := func(items ...[]preview.Target) string {
		c := changing{fake: &fake{n: 1}, targets: func(o *insight.Targets) {
			o.Items, o.Jobs = slices.Concat(items...), nil
			for _, job := range items {
				counts := preview.Counts{}
				for _, t := range job {
					counts.AddState(t.State, "spec.endpoints[0].port", 1)
				}
				o.Jobs = append(o.Jobs, insight.JobCounts{Workload: k8s, Job: job[0].Job, Counts: counts})
			}
		}}
		srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
		_, body := get(t, srv, "/prometheuses/monitoring/k8s?tab=targets")
		var out []string
		for n := range parsed(t, body[strings.Index(body, "Targets found"):]).Descendants() {
			switch {
			case n.Type == html.TextNode && n.Parent.Data == "summary":
				out = append(out, "+"+strings.TrimSpace(n.Data))
			case n.Data == "details" && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "open" }):
				out = append(out, "open")
			case n.Data == "th" && slices.Contains(n.Attr, html.Attribute{Key: "scope", Val: "rowgroup"}):
				out = append(out, "group")
			case n.Data == "table":
				out = append(out, "table")
			}
		}
		return strings.Join(out, " ")
	}
	for want, got := range map[string]string{
		"table group":       show(some("a", 50, targets.Kept)),
		"table group group": show(some("a", 5, targets.Kept), some("b", 10, targets.Kept)),
		"table group +b: 11 kept table table group":                       show(some("a", 5, targets.Kept), some("b", 11, targets.Kept), some("c", 1, targets.Kept)),
		"open +b: 10 kept, 1 invalid table table group +c: 12 kept table": show(some("a", 5, targets.Kept), some("c", 12, targets.Kept), slices.Concat(some("b", 10, targets.Kept), some("b", 1, targets.Invalid))),
		"open +b: 0 kept, 11 dropped table table group":                   show(some("a", 1, targets.Kept), some("b", 11, targets.Dropped)),
	} {
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestSuggestions: fields suggest values that exist.
func TestSuggestions(t *testing.T) {
	f := &fake{n: 5}
	srv := serve(t, f)
	for path, want := range map[string][]string{
		"/":                {`list="namespaces"`, `<datalist id="namespaces"><option value="demo"><option value="monitoring"></datalist>`},
		"/servicemonitors": {`list="namespaces"`, `<datalist id="namespaces"><option value="demo"></datalist>`},
		"/prometheuses/monitoring/k8s?tab=targets": {`list="jobs"`, `<datalist id="jobs"><option value="serviceMonitor/demo/web-0/0">`, `<datalist id="reasons"><option value="spec.endpoints[0].port"></datalist>`},
	} {
		_, body := get(t, srv, path)
		for _, has := range want {
			if !strings.Contains(body, has) {
				t.Errorf("%s: no %s", path, has)
			}
		}
	}
}
