// Package live looks for targets in a running cluster: it reads what the discoveries of jobs
// look at, with the rights of the caller and no more, and says what it may not read.
//
//	find.go        jobs → what their discoveries find, and what could not be looked at
//	plan.go        jobs → lists that are needed, each once (pure)
//	list.go        one list, page by page
//	page.go        a page as it was sent → trimmed objects
//	permission.go  what the ServiceAccount of the workload may list and watch
//	words.go       why targets are not known, for people
//
//	cluster := live.Cluster{Kube: clientset}
//	answer, err := cluster.Find(ctx, jobs, live.Workload{Namespace: "monitoring", ServiceAccount: "prometheus-k8s"})
//	result := jobs[0].Evaluate(answer.Found[0])
//
// Groups are made by package discovery. Nothing is written but questions about permissions.
package live
