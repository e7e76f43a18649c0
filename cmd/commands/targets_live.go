package commands

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/discovery/live"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/offline"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// liveTargets is a cluster in which targets are found, with the rights of whoever asks.
type liveTargets struct{ explain.Live }

// Find implements preview.Finder.
func (l liveTargets) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) (found []targets.Found, notes []string, err error) {
	answer, err := live.Cluster{Kube: l.Kube}.Find(ctx, jobs, live.Workload{Namespace: w.Namespace, ServiceAccount: w.ServiceAccount})
	return answer.Found, answer.Notes, err
}

// read reads the workloads that scrape, what they can select, and the labels of namespaces.
//
// Errors: something of it may not be read.
func (l liveTargets) read(ctx context.Context, setups []engine.Setup, scopes engine.Scopes) (*offline.Objects, engine.Cluster, error) {
	objects := offline.New(explain.Kinds(setups))
	for _, s := range setups {
		if !slices.Contains(preview.Kinds, s.Row) {
			continue
		}
		if err := l.list(ctx, objects, s.Row, s.Instances); err != nil {
			return nil, engine.Cluster{}, err
		}
	}
	for _, row := range scrapeRows {
		if err := l.list(ctx, objects, row, scopes.For(row)); err != nil {
			return nil, engine.Cluster{}, err
		}
	}
	namespaces := map[string]labels.Set{}
	list, err := l.Kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, engine.Cluster{}, fmt.Errorf("list namespaces, whose labels decide what workloads select: %w", err)
	}
	for _, n := range list.Items {
		namespaces[n.Name] = n.Labels
	}
	return objects, engine.Cluster{
		References: l.References(ctx),
		NamespaceLabels: func(name string) (labels.Set, bool) {
			l, ok := namespaces[name]
			return l, ok
		},
	}, nil
}

// list reads the objects of a kind. A kind that is not installed has none.
func (l liveTargets) list(ctx context.Context, into *offline.Objects, row *catalog.Row, in informer.Namespaces) error {
	for _, namespace := range in.Watches() {
		list, err := l.CRDs[row.GroupVersion()].REST().Get().NamespaceIfScoped(namespace, namespace != "").Resource(row.Resource).Do(ctx).Get()
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = meta.EachListItem(list, func(o runtime.Object) error {
				into.Add(row, o.(catalog.Object))
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("list %s (--namespaces and --%s-instance-namespaces limit the namespaces): %w", row.Resource, catalog.Prometheus.Flags, err)
		}
	}
	return nil
}

// pod reads a pod; nil when it does not exist.
func (l liveTargets) pod(ctx context.Context, key types.NamespacedName) (*corev1.Pod, error) {
	pod, err := l.Kube.CoreV1().Pods(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Pod %s: %w", key, err)
	}
	return pod, nil
}
