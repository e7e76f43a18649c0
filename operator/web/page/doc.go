// Package page renders the responses of package insight as HTML that works without scripts, with
// one stylesheet and one script. Each page has a JSON twin.
//
//	/                                        problems, and all workloads
//	/RESOURCE?namespace=&state=&q=           the objects of a kind
//	/RESOURCE/NAMESPACE/NAME?tab=            a workload, or an object that workloads select
//	/RESOURCE/NAMESPACE/NAME/target?job=&id=&source= a target with each relabel step
//	/pods/NAMESPACE/NAME                     the workloads that scrape a pod
//	/preview                                 the targets that manifests would have (POST)
//	/go?kind=&namespace=&name=               redirect to the page of an object
//	/events                                  changes, as server-sent events
//	/static/                                 stylesheet and script, by hash of the content
//
// The twin is at the same URL with ".json" before the query: /index.json,
// /servicemonitors/demo/web.json. The page of an object whose name ends in .json has a trailing
// slash. Links are relative, so the pages also work behind the path prefix of a proxy.
//
//	handler.go    paths and headers        request.go   parameters, limits
//	render.go     templates, size          links.go     URLs
//	words.go      template functions       errors.go    error pages
//	static.go     files                    events.go    the stream of changes
//	overview.go, list.go, workload.go, feeds.go, targets.go, routes.go, object.go, target.go,
//	preview.go, shards.go  one page or tab each
//	attention.go  problems                 manifest.go  the manifest of an object
//	delivery.go   how a change has reached the pods
//
// A page has at most 100 rows, 60 KB and 3,000 nodes: if long names make it larger, it has fewer
// rows. This package only presents the responses.
package page
