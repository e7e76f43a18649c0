package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Subject selects the workloads to show: one, or all of a namespace or the cluster.
type Subject struct {
	Row  *catalog.Row         // kind of the workload; nil for all workloads
	Name types.NamespacedName // without Row, only the namespace is used; empty for all namespaces
}

// Cluster reads a cluster with the permissions of the caller.
type Cluster struct {
	readers.Reader
	Setups []engine.Setup
	Scopes engine.Scopes
}

// Gather reads the facts about the workloads. Objects that several workloads select are listed once.
//
// Errors: the workload does not exist or cannot be read; no workload can be listed; the namespace does not exist.
func (c Cluster) Gather(ctx context.Context, of Subject) ([]Facts, error) {
	workloads, unread, err := c.workloads(ctx, of)
	if err != nil {
		return nil, err
	}
	if len(workloads) == 0 {
		return nil, c.namespaceExists(ctx, of.Name.Namespace)
	}
	wanted := readers.Wanted{NamespaceLabels: true}
	for _, w := range workloads {
		if own := w.Object.GetNamespace(); !slices.Contains(wanted.Own, own) {
			wanted.Own = append(wanted.Own, own)
		}
		for _, k := range w.Setup.Selects {
			wanted.Kinds = append(wanted.Kinds, readers.Kind{Row: k.Row})
		}
	}
	read, references := readers.Read(ctx, c, wanted), c.References(ctx)
	var out []Facts
	for _, w := range workloads {
		f := Facts{
			Candidate: w, Configs: c.Scopes.SelectedBy(w.Setup.Kind), Objects: map[*catalog.Row][]catalog.Object{},
			NamespaceLabels: read.NamespaceLabels, NamespaceUnknown: read.NamespaceUnknown(), References: references, Unread: slices.Clone(unread),
		}
		for _, k := range w.Setup.Selects {
			f.Objects[k.Row] = read.Objects[k.Row]
			f.unread(read.MissingOf(k.Row)...)
		}
		f.unread(read.MissingOf(nil)...)
		c.running(ctx, &f)
		out = append(out, f)
	}
	return out, nil
}

func (f *Facts) unread(all ...readers.Missing) {
	for _, m := range all {
		f.Unread = append(f.Unread, m.String())
	}
}

// workloads returns the workloads to show, and errors about kinds that could not be listed.
func (c Cluster) workloads(ctx context.Context, of Subject) (out []explain.Candidate, unread []string, err error) {
	for _, setup := range c.Setups {
		if of.Row != nil && setup.Row != of.Row {
			continue
		}
		if of.Row != nil {
			object, err := c.Get(ctx, setup.GroupVersionResource(), of.Name)
			if apierrors.IsNotFound(err) {
				return nil, nil, fmt.Errorf("%s %s does not exist in the cluster", setup.Row, of.Name)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("read %s %s: %w", setup.Row, of.Name, readers.NamingRole(err))
			}
			return []explain.Candidate{{Setup: setup, Object: object.(v1.Workload)}}, nil, nil
		}
		q := readers.Query{GroupVersionResource: setup.GroupVersionResource(), Namespace: of.Name.Namespace}
		list, err := c.List(ctx, q)
		if err != nil {
			unread = append(unread, fmt.Sprintf("list %s: %v", q, readers.NamingRole(err)))
			continue
		}
		for _, o := range list {
			out = append(out, explain.Candidate{Setup: setup, Object: o.(v1.Workload)})
		}
	}
	if len(out) == 0 && len(unread) > 0 {
		return nil, nil, errors.New(strings.Join(unread, "\n"))
	}
	return out, unread, nil
}

// namespaceExists returns an error if a namespace, unless it is empty, does not exist. If it cannot be read, it may exist.
func (c Cluster) namespaceExists(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if _, exists, err := readers.NamespaceLabels(ctx, c, name); err == nil && !exists {
		return fmt.Errorf("namespace %s does not exist in the cluster", name)
	}
	return nil
}

// running reads the pods, StatefulSets, DaemonSet and Events of the workload.
func (c Cluster) running(ctx context.Context, f *Facts) {
	namespace, shape := f.Object.GetNamespace(), f.Setup.Shape(f.Object)
	about := map[string]bool{f.Setup.Row.Kind + " " + f.Object.GetName(): true, "DaemonSet " + shape.DaemonSet: true}
	q := readers.Query{GroupVersionResource: readers.Pods, Namespace: namespace, Labels: labels.Set(shape.Selector).String()}
	pods, err := c.List(ctx, q)
	if err != nil {
		f.PodsUnknown = true
		f.unread(readers.Missing{Query: q, Err: err})
	}
	for _, p := range pods {
		f.Pods = append(f.Pods, p.(*corev1.Pod))
		about["Pod "+p.GetName()] = true
	}
	for _, set := range shape.Sets {
		about["StatefulSet "+set.Name] = true
		object, err := c.Get(ctx, readers.StatefulSets, types.NamespacedName{Namespace: namespace, Name: set.Name})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			f.Unread = append(f.Unread, fmt.Sprintf("cannot read StatefulSet %s: %v", set.Name, err))
		default:
			sts := object.(*appsv1.StatefulSet)
			f.StatefulSets = append(f.StatefulSets, &appsv1.StatefulSet{ObjectMeta: sts.ObjectMeta, Status: sts.Status})
		}
	}
	if shape.DaemonSet != "" {
		object, err := c.Get(ctx, readers.DaemonSets, types.NamespacedName{Namespace: namespace, Name: shape.DaemonSet})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			f.Unread = append(f.Unread, fmt.Sprintf("cannot read DaemonSet %s: %v", shape.DaemonSet, err))
		default:
			set := object.(*appsv1.DaemonSet)
			f.DaemonSet = &appsv1.DaemonSet{ObjectMeta: set.ObjectMeta, Status: set.Status}
		}
	}
	q = readers.Query{GroupVersionResource: readers.Events, Namespace: namespace, Keep: func(o readers.Object) readers.Object {
		e := o.(*corev1.Event)
		if !about[e.InvolvedObject.Kind+" "+e.InvolvedObject.Name] {
			return nil
		}
		return e.DeepCopy() // do not retain the whole page of the list
	}}
	events, err := c.List(ctx, q)
	if err != nil {
		f.unread(readers.Missing{Query: q, Err: err})
	}
	for _, e := range events {
		f.Events = append(f.Events, *e.(*corev1.Event))
	}
}
