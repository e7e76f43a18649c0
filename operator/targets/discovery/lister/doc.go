// Package lister discovers targets in a running cluster: it reads the objects that the discoveries of
// jobs need, with the permissions of the caller, and reports which of them it may not read.
//
//	find.go        jobs -> the groups of their discoveries, and the gaps
//	plan.go        jobs -> the lists that are needed, each once (no I/O)
//	list.go        one list, page by page
//	page.go        an encoded page -> trimmed objects
//	permission.go  the kinds that the ServiceAccount of the workload may list and watch
//	denials.go     their effect on discoveries
//	ready.go       whether the API server has read its roles, so that reviews are correct
//	words.go       human-readable reasons for unknown targets
//
//	cluster := lister.Cluster{Kube: clientset}
//	answer, err := cluster.Find(ctx, jobs, lister.Workload{Namespace: "monitoring", ServiceAccount: "prometheus-k8s"})
//	result := jobs[0].Evaluate(answer.Found[0])
//
// Package discovery builds the groups. Only access reviews are written.
package lister
