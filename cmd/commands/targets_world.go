package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	near "github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/live"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/httpsd"
)

// targetsWorld is the input of the command targets: manifests or a cluster.
type targetsWorld struct {
	setups  []engine.Setup
	scopes  engine.Scopes
	options prometheus.Options
	finder  preview.Finder
	look    nearmiss.Look      // for hints
	objects *manifests.Objects // nil to read the cluster
	reader  readers.Reader     // of the cluster with the manifests applied; nil if there are only manifests
	kube    kubernetes.Interface
}

// open loads the manifests, and connects to the cluster unless only manifests are read.
func (t *targetsOptions) open(ctx context.Context, o *Options, stderr io.Writer) (w targetsWorld, err error) {
	version := t.kubernetesVersion
	var cluster apiserver.Reader
	reads := t.readsCluster(o)
	switch {
	case reads:
		if cluster, version, err = t.connect(ctx, o); err != nil {
			return w, err
		}
	case t.compares():
		return w, errors.New("--compare: asks pods, and no cluster is configured; name one with --kubeconfig or --context")
	}
	kubernetes, err := parseKubernetes(version)
	if err != nil {
		return w, err
	}
	if w.setups, w.scopes, err = o.setups(kubernetes); err != nil {
		return w, err
	}
	var given *manifests.Objects
	if len(t.files) > 0 {
		defer o.reading(t.files...)()
		if given, err = manifests.Load(t.files, explain.Kinds(w.setups)); err != nil {
			return w, err
		}
		if o, w.setups, w.scopes, err = o.setupsOf(given, kubernetes, stderr); err != nil {
			return w, err
		}
	}
	if w.options, err = o.prometheus(kubernetes); err != nil {
		return w, err
	}
	switch w.kube = cluster.Kube; {
	case !reads:
		w.objects, w.finder, w.look = given, t.withHTTP(preview.AmongManifests(given.Native())), lookAmong(given)
	case given == nil:
		w.reader, w.finder = cluster, t.withHTTP(liveTargets{kube: cluster.Kube})
	default:
		over := overlay.Over(cluster, given)
		w.reader, w.finder = over, t.withHTTP(liveTargets{cluster.Kube, discovery.Of(over.Native())})
	}
	if reads {
		w.look = near.New(ctx, w.reader).Look
	}
	return w, nil
}

// lookAmong returns a function that looks up hints in a view of manifests. The view is
// created on first use.
func lookAmong(objects *manifests.Objects) nearmiss.Look {
	view := sync.OnceValue(func() *nearmiss.View {
		var made []dryrun.Outcome
		for _, w := range objects.Workloads() {
			made = append(made, objects.Reconcile(w))
		}
		return static.View(objects, made)
	})
	return func(v1.Workload, []nearmiss.Use) (*nearmiss.View, []string) { return view(), nil }
}

// withHTTP adds the targets of HTTP service discovery for the allowed hosts.
func (t *targetsOptions) withHTTP(f preview.Finder) preview.Finder {
	return preview.WithHTTP{Finder: f, Client: httpsd.New(t.httpSD)}
}

// ask returns the question for package explain about an object.
func (w targetsWorld) ask(ctx context.Context, kind, name string) (explain.Question, error) {
	parsed, err := explain.ParseName(explain.Kinds(w.setups), kind, name)
	if err != nil {
		return explain.Question{}, err
	}
	if w.objects == nil {
		return explain.FromCluster(ctx, w.reader, w.setups, parsed)
	}
	return explain.FromManifests(w.objects, nil, w.setups, parsed)
}

// gather reads the workloads that scrape, and the objects that they can select.
//
// Errors: the cluster cannot be read.
func (w targetsWorld) gather(ctx context.Context) (*manifests.Objects, engine.Cluster, error) {
	if w.objects != nil {
		return w.objects, engine.Cluster{}, nil
	}
	return preview.Gather(ctx, w.reader, w.setups, w.scopes)
}

// workloads returns the gathered workloads that the operator manages: all, or the given
// one.
//
// Errors: the given one does not exist or is not managed.
func (w targetsWorld) workloads(objects *manifests.Objects, references engine.Cluster, one catalog.Ref) (out []preview.Workload, err error) {
	found := false
	for _, each := range objects.Workloads() {
		c := explain.Candidate{Setup: w.setup(each.Kind), Object: each.Object}
		ref := c.Ref()
		if !slices.Contains(preview.Kinds, each.Kind.Row) || (one != catalog.Ref{}) && one != ref {
			continue
		}
		found = true
		if why := c.Unmanaged(); why != "" && one == ref {
			return nil, fmt.Errorf("%s is not managed by this operator: %s", ref, why)
		} else if why != "" {
			continue
		}
		cluster := objects.Cluster(each)
		if w.objects == nil {
			cluster.NamespaceLabels, cluster.References = references.NamespaceLabels, references.References
		}
		out = append(out, preview.Read(c, w.watched(cluster), w.options))
	}
	if (one != catalog.Ref{}) && !found {
		return nil, fmt.Errorf("%s does not exist %s", one, w.where())
	}
	return out, nil
}

// where returns the location for messages.
func (w targetsWorld) where() string {
	if w.objects == nil {
		return "in the cluster"
	}
	return "among the manifests"
}

func (w targetsWorld) setup(kind *engine.Kind) engine.Setup {
	return w.setups[slices.IndexFunc(w.setups, func(s engine.Setup) bool { return s.Kind == kind })]
}

// watched excludes objects in namespaces that the operator does not watch.
func (w targetsWorld) watched(c engine.Cluster) engine.Cluster {
	all := c.Objects
	c.Objects = func(kind string) iter.Seq[catalog.Object] {
		namespaces := w.scopes.For(catalog.Of(kind))
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

// clusterOf returns the cluster of a workload that uses an object, with all other objects
// that it selects if they have been read.
func (w targetsWorld) clusterOf(c explain.Candidate, q explain.Question) engine.Cluster {
	workload := dryrun.Workload{Kind: c.Setup.Kind, Object: c.Object}
	if w.objects != nil {
		return w.watched(w.objects.Cluster(workload))
	}
	out := manifests.Only(q.Row, q.Object).Cluster(workload)
	out.NamespaceLabels, out.References = q.NamespaceLabels, q.References
	return out
}

// address returns the IP of a pod, if no other pod shares it.
//
// Errors: the pod does not exist or cannot be read.
func (w targetsWorld) address(ctx context.Context, key types.NamespacedName) (string, error) {
	var pod *corev1.Pod
	if w.objects == nil {
		var err error
		if pod, err = readers.Pod(ctx, w.reader, key); err != nil {
			return "", fmt.Errorf("read Pod %s: %w", key, err)
		}
	} else {
		for _, object := range w.objects.Native() {
			if p, is := object.(*corev1.Pod); is && p.Namespace == key.Namespace && p.Name == key.Name {
				pod = p
			}
		}
	}
	switch {
	case pod == nil:
		return "", fmt.Errorf("pod %s does not exist %s", key, w.where())
	case pod.Spec.HostNetwork:
		return "", nil
	}
	return pod.Status.PodIP, nil
}

// summaries returns a function that describes each job of an object in a workload in one
// line, or nil if the manifests contain no objects with targets.
//
// Errors: a quantity does not parse.
func (o *Options) summaries(ctx context.Context, kubernetes *semver.Version, objects *manifests.Objects, q explain.Question) (func(explain.Candidate) []string, error) {
	options, err := o.prometheus(kubernetes)
	finder := preview.AmongManifests(objects.Native())
	if err != nil || !finder.HasAny() || !slices.Contains(scrapeRows, q.Row) {
		return nil, err
	}
	object := catalog.RefOf(q.Row.Kind, q.Object)
	return func(c explain.Candidate) []string {
		cluster := manifests.Only(q.Row, q.Object).Cluster(dryrun.Workload{Kind: c.Setup.Kind, Object: c.Object})
		cluster.NamespaceLabels, cluster.References = q.NamespaceLabels, q.References
		workload := preview.Read(c, cluster, options)
		report, err := preview.Run(ctx, []preview.Workload{workload}, finder, preview.Query{Object: object, Shard: preview.AllShards, States: []targets.State{}})
		if err != nil {
			return []string{err.Error()}
		}
		return report.Summaries()
	}, nil
}
