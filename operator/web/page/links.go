package page

import (
	"net/url"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// link is a link to a page; without Href it is plain text.
type link struct{ Text, Href string }

// upward returns the relative path from the page to the root: "../../".
func upward(r *url.URL) string {
	if up := strings.Repeat("../", strings.Count(r.EscapedPath(), "/")-1); up != "" {
		return up
	}
	return "./"
}

// Maximum lengths of parts of a URL: of a name in Kubernetes, and of a job name, which has two of
// them and a kind. Longer ones get no link.
const (
	maxName = 253
	maxJob  = 600
)

// pathOf returns the path of an object below the root; empty if it has no page.
func pathOf(o catalog.Ref) string {
	resource := ""
	switch row := catalog.Of(o.Kind); {
	case o.Name == "" || o.Namespace == "" || len(o.Name) > maxName || len(o.Namespace) > maxName:
		return ""
	case row != nil:
		resource = row.Resource
	case o.Kind == "Pod":
		resource = "pods"
	default:
		return ""
	}
	return resource + "/" + url.PathEscape(o.Namespace) + "/" + url.PathEscape(o.Name)
}

// pageOf returns the URL of the page of an object; empty if it has none.
func pageOf(root string, o catalog.Ref) string {
	p := pathOf(o)
	switch {
	case p == "":
		return ""
	case strings.HasSuffix(p, ".json"):
		p += "/"
	}
	return root + p
}

// Link returns a link to an object.
func (v *view) Link(o catalog.Ref) link { return link{o.String(), pageOf(v.root, o)} }

// Short is like Link without the kind.
func (v *view) Short(o catalog.Ref) link {
	return link{o.Namespace + "/" + o.Name, pageOf(v.root, o)}
}

// Tab returns the URL of a tab of an object.
func (v *view) Tab(o catalog.Ref, tab string) string { return pageOf(v.root, o) + "?tab=" + tab }

// Problem returns a link to the page that shows a problem; only text if it occurs in several places.
func (v *view) Problem(g attentionGroup) link {
	to := link{Text: g.Title}
	if g.Total > 1 || len(g.Of) == 0 {
		return to
	}
	at := g.Of[0]
	to.Href = pageOf(v.root, at.Object)
	if to.Href == "" {
		to.Href = pageOf(v.root, at.Workload)
	}
	tab := map[insight.Cause]string{insight.PodsBehind: "pods", insight.StuckRollout: "pods", insight.Unbalanced: "shards", insight.NoTargets: "targets", insight.Overlapping: "targets"}[g.Cause]
	if tab != "" && to.Href != "" {
		to.Href += "?tab=" + tab
	}
	return to
}

// Trace returns a link to the relabel steps of a target; only text if the target represents an
// unknown number of targets.
func (v *view) Trace(t preview.Target) link {
	to := link{Text: t.URL}
	if to.Text == "" {
		to.Text = t.Discovered["__address__"]
	}
	if to.Text == "" {
		to.Text = "not known"
	}
	if t.ID != "" && len(t.Job) <= maxJob && pathOf(t.Workload) != "" {
		to.Href = v.root + pathOf(t.Workload) + "/target?" + url.Values{"job": {t.Job}, "id": {t.ID}, "source": {t.Source.Path()}}.Encode()
	}
	return to
}

// Pod returns a link to the workloads that scrape a pod.
func (v *view) Pod(namespace, name string) link {
	return link{name, pageOf(v.root, catalog.Ref{Kind: "Pod", Namespace: namespace, Name: name})}
}

// Source returns a link to the source of a target, preferably its pod.
func (v *view) Source(s targets.Source) link {
	switch {
	case s.Pod != "":
		return v.Link(catalog.Ref{Kind: "Pod", Namespace: s.Namespace, Name: s.Pod})
	case s.Name == "":
		return link{}
	case s.Namespace == "":
		return link{Text: s.Kind + " " + s.Name}
	}
	return v.Link(catalog.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name})
}

// Origin returns a link to the object that defines a route.
func (v *view) Origin(o routing.Origin) link {
	return link{o.String(), pageOf(v.root, catalog.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})}
}

// Filter returns the URL of this page with changed parameters; empty if one is too long for a link.
func (v *view) Filter(pairs ...string) string {
	for _, p := range pairs {
		if len(p) > maxJob {
			return ""
		}
	}
	return v.q.with(pairs...)
}

// Job returns a link to the targets of a job on this page.
func (v *view) Job(job string) link {
	return link{job, v.Filter("tab", v.targetsTab(), "job", job)}
}

// Reason returns a link to the targets on this page that a field drops.
func (v *view) Reason(of nameCount) link {
	text := number(of.Count) + " targets"
	if of.Count == 1 {
		text = "1 target"
	}
	return link{text, v.Filter("tab", v.targetsTab(), "state", string(targets.Dropped), "reason", of.Name)}
}

// Others returns a link to the targets on this page that selectors drop.
func (v *view) Others() string {
	return v.Filter("tab", v.targetsTab(), "state", string(targets.Dropped), "reason", selectorField)
}

// targetsTab returns the name of the tab with targets; empty on a page without tabs.
func (v *view) targetsTab() string {
	if v.Template == "pod" {
		return ""
	}
	return "targets"
}

// Param returns a parameter of this page.
func (v *view) Param(name string) string { return v.q.query.Get(name) }

// twin returns the URL of the JSON twin of the page, with a query that may be empty.
func (v *view) twin(query string) string {
	p := pathOf(subject(v.q.of))
	switch {
	case strings.HasSuffix(v.q.URL.Path, "/target"):
		p += "/target"
	case v.q.URL.Path == "/":
		p = "index"
	}
	return v.root + p + ".json" + query
}

// subject returns the object of a page; empty for pages about the whole cluster.
func subject(o insight.Object) catalog.Ref {
	switch {
	case o.Row != nil:
		return o.Ref()
	case o.Name != "":
		return catalog.Ref{Kind: "Pod", Namespace: o.Namespace, Name: o.Name}
	}
	return catalog.Ref{}
}
