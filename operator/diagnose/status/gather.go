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

// Gather reads the facts about the workloads. Objects that several workloads select are usually
// listed once.
//
// Errors: the workload does not exist or cannot be read; no workload can be listed.
func (c Cluster) Gather(ctx context.Context, of Subject) ([]Facts, error) {
	workloads, unread, err := c.workloads(ctx, of)
	if err != nil {
		return nil, err
	}
	s := reading{c: c, ctx: ctx, objects: map[*catalog.Row]listed{}}
	s.namespaces()
	references := c.References(ctx)
	var out []Facts
	for _, w := range workloads {
		f := Facts{
			Candidate: w, Configs: c.Scopes.SelectedBy(w.Setup.Kind), Objects: map[*catalog.Row][]catalog.Object{},
			NamespaceLabels: s.labels, References: references, Unread: slices.Clone(unread),
		}
		if s.namespacesErr != nil {
			f.NamespaceUnknown = func(string) bool { return true }
		}
		for _, k := range w.Setup.Selects {
			list := s.list(k.Row, w.Object.GetNamespace())
			f.Objects[k.Row] = list.objects
			f.unread(list.err)
		}
		f.unread(s.namespacesErr)
		s.running(&f)
		out = append(out, f)
	}
	return out, nil
}

func (f *Facts) unread(err error) {
	if err != nil {
		f.Unread = append(f.Unread, err.Error())
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
				return nil, nil, fmt.Errorf("read %s %s: %w", setup.Row, of.Name, err)
			}
			return []explain.Candidate{{Setup: setup, Object: object.(v1.Workload)}}, nil, nil
		}
		list, err := c.List(ctx, readers.Query{GroupVersionResource: setup.GroupVersionResource(), Namespace: of.Name.Namespace})
		if err != nil {
			unread = append(unread, fmt.Sprintf("list %s: %v", setup.Resource, err))
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

// reading caches the results of reads during one [Cluster.Gather].
type reading struct {
	c             Cluster
	ctx           context.Context
	objects       map[*catalog.Row]listed
	labels        func(namespace string) (labels.Set, bool)
	namespacesErr error
}

// listed are the objects of a kind, with the error because of which some may be missing.
type listed struct {
	objects []catalog.Object
	err     error
}

func (r *reading) namespaces() {
	var err error
	if r.labels, err = readers.AllNamespaceLabels(r.ctx, r.c); err == nil {
		return
	}
	r.namespacesErr = fmt.Errorf("labels of Namespaces, so that namespace selectors select none: %w", err)
}

// list lists a kind in the whole cluster or, if that is forbidden, in the namespace of the
// workload.
func (r *reading) list(row *catalog.Row, namespace string) listed {
	if known, ok := r.objects[row]; ok {
		return known
	}
	objects, refused, err := readers.Somewhere(r.ctx, r.c, readers.Query{GroupVersionResource: row.GroupVersionResource()}, namespace)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", row.Resource, err)
	case refused != nil: // do not cache: other workloads may be in other namespaces
		return listed{objects, fmt.Errorf("%s in namespaces other than %s: %w", row.Resource, namespace, refused)}
	}
	out := listed{objects, err}
	r.objects[row] = out
	return out
}

// running reads the pods, StatefulSets, DaemonSet and Events of the workload.
func (r *reading) running(f *Facts) {
	namespace, shape := f.Object.GetNamespace(), f.Setup.Shape(f.Object)
	about := map[string]bool{f.Setup.Row.Kind + " " + f.Object.GetName(): true, "DaemonSet " + shape.DaemonSet: true}
	pods, err := r.c.List(r.ctx, readers.Query{GroupVersionResource: readers.Pods, Namespace: namespace, Labels: labels.Set(shape.Selector).String()})
	if err != nil {
		f.PodsUnknown = true
		f.unread(fmt.Errorf("pods: %w", err))
	}
	for _, p := range pods {
		f.Pods = append(f.Pods, p.(*corev1.Pod))
		about["Pod "+p.GetName()] = true
	}
	for _, set := range shape.Sets {
		about["StatefulSet "+set.Name] = true
		object, err := r.c.Get(r.ctx, readers.StatefulSets, types.NamespacedName{Namespace: namespace, Name: set.Name})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			f.unread(fmt.Errorf("StatefulSet %s: %w", set.Name, err))
		default:
			sts := object.(*appsv1.StatefulSet)
			f.StatefulSets = append(f.StatefulSets, &appsv1.StatefulSet{ObjectMeta: sts.ObjectMeta, Status: sts.Status})
		}
	}
	if shape.DaemonSet != "" {
		object, err := r.c.Get(r.ctx, readers.DaemonSets, types.NamespacedName{Namespace: namespace, Name: shape.DaemonSet})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			f.unread(fmt.Errorf("DaemonSet %s: %w", shape.DaemonSet, err))
		default:
			set := object.(*appsv1.DaemonSet)
			f.DaemonSet = &appsv1.DaemonSet{ObjectMeta: set.ObjectMeta, Status: set.Status}
		}
	}
	events, err := r.c.List(r.ctx, readers.Query{GroupVersionResource: readers.Events, Namespace: namespace, Keep: func(o readers.Object) readers.Object {
		e := o.(*corev1.Event)
		if !about[e.InvolvedObject.Kind+" "+e.InvolvedObject.Name] {
			return nil
		}
		return e.DeepCopy() // do not retain the whole page of the list
	}})
	if err != nil {
		f.unread(fmt.Errorf("events: %w", err))
	}
	for _, e := range events {
		f.Events = append(f.Events, *e.(*corev1.Event))
	}
}
