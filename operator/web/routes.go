package web

import (
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Route is a path of the API, or one path for each of several kinds.
type Route struct {
	// Name is used in metrics and in the OpenAPI document.
	Name string
	// Method is GET, which includes HEAD, or POST.
	Method string
	// Path is the whole path or, for the kinds in Of, the part after the name of the object.
	Path string
	Of   []*catalog.Row
	// Doc is a sentence about the response.
	Doc string
	// Needs is a human-readable description of the required permission.
	Needs  string
	Params []Param
	// Answer is an empty response; nil if it is not JSON.
	Answer any

	answer func(*Handler, *request) (any, error)
}

// roots are the prefixes of all paths of the API. Pages have other paths.
var roots = []string{"/apis/", "/api/", "/openapi/"}

// Kinds by the requests that they support.
var (
	workloads   = rows(func(r *catalog.Row) bool { return r.IsWorkload() })
	selected    = rows(func(r *catalog.Row) bool { return !r.IsWorkload() })
	scraping    = []*catalog.Row{catalog.Prometheus, catalog.PrometheusAgent}
	withTargets = []*catalog.Row{
		catalog.Prometheus, catalog.PrometheusAgent,
		catalog.ServiceMonitor, catalog.PodMonitor, catalog.Probe, catalog.ScrapeConfig,
	}
)

// podPath is the path of a pod, like that of API servers.
const podPath = "/api/v1/namespaces/{namespace}/pods/{name}"

// Human-readable permissions.
const (
	getObject      = "`get` the object"
	needsNothing   = "none"
	mayList        = "a valid token; the answer has the workloads that the caller may `list`"
	mayListObjects = "a valid token; the answer has the objects that the caller may `list`"
	mayGet         = "a valid token; the stream has the objects that the caller may `get`"
)

// routes are all paths except streams.
var routes = []Route{
	{
		Name: "status", Of: workloads, Path: "/status", Doc: "the object, whole, with the `status` it should have now", Needs: getObject,
		Answer: Object{}, answer: (*Handler).status,
	},
	{
		Name: "workload", Of: workloads, Path: "/overview", Doc: "conditions, pods and Events of a workload, and counts of the objects that it selects", Needs: getObject,
		Answer: insight.Workload{}, answer: (*Handler).workload,
	},
	{
		Name: "sources", Of: workloads, Path: "/sources", Doc: "the objects that a workload could select: accepted, rejected or not selected, and why", Needs: getObject,
		Params: append(listParams(), Param{Name: "state", Doc: "of the objects", Values: sourceStates}, Param{Name: "kind", Doc: "of the objects", Values: kindsOf(selected)}),
		Answer: insight.Sources{}, answer: (*Handler).sources,
	},
	{
		Name: "rollout", Of: workloads, Path: "/rollout", Doc: "what each pod of a workload runs: revision, configuration wanted and loaded", Needs: getObject,
		Params: listParams(), Answer: insight.Rollout{}, answer: (*Handler).rollout,
	},
	{
		Name: "shards", Of: scraping, Path: "/shards", Doc: "the targets of each shard, and how even they are; what another number of shards would change", Needs: getObject,
		Params: []Param{{Name: "shards", Doc: "another number of shards; `resharding` is about it", Number: true, Min: 1, Max: v1.MaxShards}},
		Answer: Shards{}, answer: (*Handler).shards,
	},
	{
		Name: "config", Of: workloads, Path: "/config", Doc: "the configuration without credentials, in sections, each with the object that made it", Needs: getObject,
		Params: listParams(), Answer: insight.Config{}, answer: (*Handler).config,
	},
	{
		Name: "routes", Of: []*catalog.Row{catalog.Alertmanager}, Path: "/routes", Doc: "the routing tree; with labels, the way of an alert through it", Needs: getObject,
		Params: []Param{{Name: "label", Doc: "NAME=VALUE of the alert; repeat it for more", Repeat: true, Check: isLabel}},
		Answer: insight.Routes{}, answer: (*Handler).routing,
	},
	{
		Name: "explain", Of: selected, Path: "/explain", Doc: "for each workload, whether it uses the object; if not, the first reason", Needs: getObject,
		Answer: explain.Report{}, answer: (*Handler).explain,
	},
	{
		Name: "targets", Of: withTargets, Path: "/targets", Doc: "the targets of a workload, or of an object in all workloads", Needs: getObject,
		Params: append(listParams(), targetParams()...), Answer: insight.Targets{}, answer: (*Handler).targets,
	},
	{
		Name: "target", Of: scraping, Path: "/targets/{id}", Doc: "a target, and what each relabel step makes of it", Needs: getObject,
		Params: []Param{
			{Name: "job", Doc: "of the target", Required: true},
			{Name: "source", Doc: "KIND/NAMESPACE/NAME of the target's `source`, which finds it faster; KIND/NAME of a Node"},
		}, Answer: insight.Trace{}, answer: (*Handler).target,
	},
	{
		Name: "pod", Path: podPath + "/targets", Doc: "which workloads scrape a pod", Needs: "`get` the pod",
		Params: append(listParams(), targetParams()...), Answer: insight.Targets{}, answer: (*Handler).pod,
	},
	{
		Name: "overview", Path: "/api/v1/overview", Doc: "what needs attention, the most urgent first, and all workloads", Needs: mayList,
		Params: append(listParams(), Param{Name: "level", Doc: "of the workloads: the urgency of their most urgent problem", Values: words(insight.Levels)},
			Param{Name: "kind", Doc: "of the workloads", Values: kindsOf(workloads)}, Param{Name: "namespace", Doc: "of the workloads"}),
		Answer: insight.Overview{}, answer: (*Handler).overview,
	},
	{
		Name: "objects", Path: "/api/v1/objects", Doc: "the objects of a kind that workloads select, with their state", Needs: mayListObjects,
		Params: append(listParams(), Param{Name: "kind", Doc: "of the objects", Values: kindsOf(selected), Required: true},
			Param{Name: "namespace", Doc: "of the objects"}, Param{Name: "state", Doc: "of the objects", Values: sourceStates}),
		Answer: insight.ObjectList{}, answer: (*Handler).objects,
	},
	{
		Name: "preview", Method: http.MethodPost, Path: "/api/v1/preview",
		Doc:   "what would be scraped if the manifests of the body (YAML or JSON, at most 1 MiB) were applied; nothing is stored",
		Needs: "`get` each object of the body", Answer: preview.Report{}, answer: (*Handler).preview,
	},
	{
		Name: "openapi", Path: "/openapi/v3", Doc: "these paths as an OpenAPI document", Needs: needsNothing, answer: (*Handler).openAPI,
	},
}

// Path and name of the stream of changes.
const (
	eventsName = "events"
	eventsPath = "/api/v1/events"
)

var eventsRoute = Route{
	Name: eventsName, Method: http.MethodGet, Path: eventsPath,
	Doc:   "a stream of server-sent events: `workload`, `object` or `rollout`, each with the name of an object that changed",
	Needs: mayGet,
}

// Routes returns all paths of the API.
func Routes() []Route {
	out := append(append([]Route{}, routes...), eventsRoute)
	for i := range out {
		out[i].Method = out[i].method()
	}
	return out
}

// place is one path of a route.
type place struct {
	row  *catalog.Row // nil for a path that is not about objects of a kind
	path string
}

// Paths returns the paths of the route, one for each kind.
func (r *Route) Paths() (out []string) {
	for _, p := range r.places() {
		out = append(out, p.path)
	}
	return out
}

func (r *Route) places() (out []place) {
	for _, row := range r.Of {
		out = append(out, place{row, "/apis/" + row.GroupVersion().String() + "/namespaces/{namespace}/" + row.Resource + "/{name}" + r.Path})
	}
	if r.Of == nil {
		out = append(out, place{nil, r.Path})
	}
	return out
}

// method returns the method of the route, GET by default.
func (r *Route) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// aboutObject reports whether the path names an object.
func (r *Route) aboutObject() bool { return r.Of != nil || strings.HasPrefix(r.Path, podPath) }

func rows(has func(*catalog.Row) bool) (out []*catalog.Row) {
	for _, r := range catalog.All {
		if has(r) {
			out = append(out, r)
		}
	}
	return out
}

func kindsOf(rows []*catalog.Row) (out []string) {
	for _, r := range rows {
		if catalog.Of(r.Kind) == r {
			out = append(out, r.Kind)
		}
	}
	return out
}

// pods is the resource of pods.
var pods = schema.GroupResource{Group: corev1.GroupName, Resource: "pods"}

// resource returns the resource of a kind; pods for nil.
func resource(row *catalog.Row) schema.GroupResource {
	if row == nil {
		return pods
	}
	return row.GroupResource()
}
