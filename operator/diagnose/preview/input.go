package preview

import (
	"context"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Input is the input of reports about targets.
type Input struct {
	explain.Input
	Options prometheus.Options
	Finder  Finder
}

// Run computes the report for a query about everything, a workload or a pod.
//
// Errors: the workload or pod does not exist; the workload is not managed; the query selects nothing
// that exists; the cluster cannot be read.
func (in Input) Run(ctx context.Context, q Query) (report Report, err error) {
	everything := q.Workload == catalog.Ref{} && q.Pod.Name == "" && q.Job == "" && !q.OverlapsOnly
	if q.Pod.Name != "" {
		if q.IP, err = in.address(ctx, q.Pod); err != nil {
			return report, err
		}
	}
	objects, all, err := in.workloads(ctx, q.Workload, q.Shards)
	if err != nil {
		return report, err
	}
	if report, err = in.answer(ctx, all, q); err == nil && everything {
		report.NameUnselected(objects)
	}
	return report, err
}

// RunAbout computes the report for a query about an object, with the reasons why workloads do not
// use it.
//
// Errors: those of [explain.Input.Question]; the query selects nothing that exists.
func (in Input) RunAbout(ctx context.Context, n explain.Name, q Query) (report Report, err error) {
	question, err := in.Question(ctx, n)
	if err != nil {
		return report, err
	}
	if question.Look == nil {
		question.Look = q.Look
	}
	explained := explain.Explain(question, in.Scopes.For(question.Row))
	q.Object = explained.Object
	uses := func(owner catalog.Ref) bool {
		return slices.ContainsFunc(explained.Workloads, func(v explain.Result) bool { return v.Accepted && v.Workload == owner })
	}
	var all []Workload
	if q.Overlaps { // including the jobs of other objects
		if _, all, err = in.workloads(ctx, catalog.Ref{}, 0); err != nil {
			return report, err
		}
		all = slices.DeleteFunc(all, func(w Workload) bool { return !uses(w.Ref) })
	} else {
		for _, c := range question.Workloads {
			if uses(c.Ref()) {
				all = append(all, Read(c, in.clusterOf(c, question), in.Options))
			}
		}
	}
	if len(all) > 0 {
		report, err = in.answer(ctx, all, q)
	} else {
		report, err = Run(ctx, nil, in.Finder, q)
	}
	report.About(explained)
	return report, err
}

// answer runs a query over workloads that have been read.
func (in Input) answer(ctx context.Context, all []Workload, q Query) (Report, error) {
	if err := q.check(all); err != nil {
		return Report{}, err
	}
	return Run(ctx, all, in.Finder, q)
}

// workloads returns the workloads that the operator manages, all or the given one, and the objects
// that they can select. Unless shards is 0, they are compared with themselves with so many shards.
//
// Errors: the given one does not exist or is not managed; it cannot have so many shards; the cluster cannot be read.
func (in Input) workloads(ctx context.Context, one catalog.Ref, shards int) (objects *manifests.Objects, out []Workload, err error) {
	objects, references := in.Manifests, engine.Cluster{}
	if in.Live() {
		if objects, references, err = Gather(ctx, in.Reader, in.Setups, in.Scopes); err != nil {
			return nil, nil, err
		}
	}
	found := false
	for _, each := range objects.Workloads() {
		c := explain.Candidate{Setup: in.setup(each.Kind), Object: each.Object}
		ref := c.Ref()
		if !slices.Contains(Kinds, each.Kind.Row) || (one != catalog.Ref{}) && one != ref {
			continue
		}
		found = true
		if why := c.Unmanaged(); why != "" && one == ref {
			return nil, nil, fmt.Errorf("%s is not managed by this operator: %s", ref, why)
		} else if why != "" {
			continue
		}
		cluster := objects.Cluster(each)
		if in.Live() {
			cluster.NamespaceLabels, cluster.References = references.NamespaceLabels, references.References
		}
		w := Read(c, in.watched(cluster), in.Options)
		if shards > 0 {
			if w.reshard, err = newReshard(&w, shards, in.Options); err != nil {
				return nil, nil, fmt.Errorf("--shards=%d: %w", shards, err)
			}
		}
		out = append(out, w)
	}
	if (one != catalog.Ref{}) && !found {
		return nil, nil, fmt.Errorf("%s does not exist %s", one, in.Where())
	}
	return objects, out, nil
}

func (in Input) setup(kind *engine.Kind) engine.Setup {
	return in.Setups[slices.IndexFunc(in.Setups, func(s engine.Setup) bool { return s.Kind == kind })]
}

// watched excludes objects in namespaces that the operator does not watch.
func (in Input) watched(c engine.Cluster) engine.Cluster {
	all := c.Objects
	c.Objects = func(kind string) iter.Seq[catalog.Object] {
		namespaces := in.Scopes.For(catalog.Of(kind))
		return func(yield func(catalog.Object) bool) {
			for o := range all(kind) {
				if namespaces.Has(o.GetNamespace()) && !yield(o) {
					return
				}
			}
		}
	}
	return c
}

// clusterOf returns the cluster of a workload that uses an object. Among manifests it has all
// objects that the workload selects, in a cluster only this one.
func (in Input) clusterOf(c explain.Candidate, q explain.Question) engine.Cluster {
	if !in.Live() {
		return in.watched(in.Manifests.Cluster(dryrun.Workload{Kind: c.Setup.Kind, Object: c.Object}))
	}
	return onlyOf(c, q)
}

// onlyOf returns the cluster of a workload with a single object.
func onlyOf(c explain.Candidate, q explain.Question) engine.Cluster {
	out := manifests.Only(q.Row, q.Object).Cluster(dryrun.Workload{Kind: c.Setup.Kind, Object: c.Object})
	out.NamespaceLabels, out.References = q.NamespaceLabels, q.References
	return out
}

// address returns the IP of a pod, if no other pod shares it.
//
// Errors: the pod does not exist or cannot be read.
func (in Input) address(ctx context.Context, key types.NamespacedName) (string, error) {
	var pod *corev1.Pod
	if in.Live() {
		var err error
		if pod, err = readers.Pod(ctx, in.Reader, key); err != nil {
			return "", fmt.Errorf("read Pod %s: %w", key, err)
		}
	} else {
		for _, object := range in.Manifests.Native() {
			if p, is := object.(*corev1.Pod); is && p.Namespace == key.Namespace && p.Name == key.Name {
				pod = p
			}
		}
	}
	switch {
	case pod == nil:
		return "", fmt.Errorf("pod %s does not exist %s", key, in.Where())
	case pod.Spec.HostNetwork:
		return "", nil
	}
	return pod.Status.PodIP, nil
}

// Summaries returns a function that describes each job of an object in a workload in one line, or
// nil if the manifests contain no objects with targets.
func Summaries(ctx context.Context, objects *manifests.Objects, q explain.Question, options prometheus.Options) func(explain.Candidate) []string {
	finder := AmongManifests(objects.Native())
	if !finder.hasAny() || !slices.Contains(Sources, q.Row) {
		return nil
	}
	object := catalog.RefOf(q.Row.Kind, q.Object)
	return func(c explain.Candidate) []string {
		workload := Read(c, onlyOf(c, q), options)
		report, err := Run(ctx, []Workload{workload}, finder, Query{Object: object, Shard: AllShards, States: []targets.State{}})
		if err != nil {
			return []string{err.Error()}
		}
		return report.Summaries()
	}
}
