// Package page shows the answers of package insight to people: HTML that works without script,
// with a stylesheet, a script and nothing else. Each page has a twin in JSON.
//
//	/                                        what needs attention, and all workloads
//	/RESOURCE/NAMESPACE/NAME?tab=            a workload, or an object that workloads select
//	/RESOURCE/NAMESPACE/NAME/target?job=&id=&source= a target with each relabel step
//	/pods/NAMESPACE/NAME                     who scrapes a pod
//	/preview                                 what manifests would scrape (POST)
//	/go?kind=&namespace=&name=               the page of an object by its name
//	/events                                  what changed, as server-sent events
//	/static/                                 stylesheet and script, by their content
//
// The twin is at the same URL with ".json" before the query: /index.json,
// /servicemonitors/demo/web.json. The page of an object whose name ends in .json has a slash
// at its end. Links are relative, so the pages also work below a path of a proxy.
//
//	handler.go    paths and headers        request.go   parameters, limits
//	render.go     templates, size          links.go     URLs
//	words.go      what templates call      errors.go    error pages
//	static.go     files                    events.go    the stream of changes
//	overview.go, workload.go, feeds.go, routes.go, object.go, target.go, preview.go   a page each
//
// A page has at most 100 rows, 60 KB and 3,000 nodes: if long names make it larger, it gets
// fewer rows. Nothing is decided here.
package page
