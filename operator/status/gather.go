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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
)

// Subject is what is asked for: one workload, or all of a namespace or the cluster.
type Subject struct {
	Row  *catalog.Row         // nil: all
	Name types.NamespacedName // without Row, the namespace limits what is shown; empty: all
}

// Cluster is read with the permissions of whoever asks.
type Cluster struct {
	explain.Live
	Setups []engine.Setup
	Scopes engine.Scopes
}

// Gather reads what the pages of the workloads are made of. What several of them need is
// read once.
//
// Errors: the workload does not exist or may not be read; there is none that may.
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

// workloads are those to show.
func (c Cluster) workloads(ctx context.Context, of Subject) (out []explain.Candidate, unread []string, err error) {
	for _, setup := range c.Setups {
		if of.Row != nil && setup.Row != of.Row {
			continue
		}
		ask := c.CRDs[setup.GroupVersion()].REST().Get().Resource(setup.Resource)
		if of.Row != nil {
			object := setup.New()
			err := ask.Namespace(of.Name.Namespace).Name(of.Name.Name).Do(ctx).Into(object)
			if apierrors.IsNotFound(err) {
				return nil, nil, fmt.Errorf("%s %s does not exist in the cluster", setup.Row, of.Name)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("read %s %s: %w", setup.Row, of.Name, err)
			}
			return []explain.Candidate{{Setup: setup, Object: object.(v1.Workload)}}, nil, nil
		}
		list, err := ask.NamespaceIfScoped(of.Name.Namespace, of.Name.Namespace != "").Do(ctx).Get()
		switch {
		case apierrors.IsNotFound(err):
			continue // not installed
		case err != nil:
			unread = append(unread, fmt.Sprintf("list %s: %v", setup.Resource, err))
			continue
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			out = append(out, explain.Candidate{Setup: setup, Object: o.(v1.Workload)})
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if len(out) == 0 && len(unread) > 0 {
		return nil, nil, errors.New(strings.Join(unread, "\n"))
	}
	return out, unread, nil
}

// reading remembers what was read for one answer.
type reading struct {
	c             Cluster
	ctx           context.Context
	objects       map[*catalog.Row]listed
	all           map[string]labels.Set // of the namespaces
	namespacesErr error
}

// listed are objects of a kind, and why some of them may be missing.
type listed struct {
	objects []catalog.Object
	err     error
}

func (r *reading) namespaces() {
	list, err := r.c.Kube.CoreV1().Namespaces().List(r.ctx, metav1.ListOptions{})
	if err != nil {
		r.namespacesErr = fmt.Errorf("labels of Namespaces, so that namespace selectors select none: %w", err)
		return
	}
	r.all = map[string]labels.Set{}
	for _, ns := range list.Items {
		r.all[ns.Name] = ns.Labels
	}
}

func (r *reading) labels(name string) (labels.Set, bool) {
	if r.all == nil {
		return labels.Set{corev1.LabelMetadataName: name}, true
	}
	l, ok := r.all[name]
	return l, ok
}

// list reads a kind in the whole cluster or, where that is not permitted, in the namespace
// of the workload.
func (r *reading) list(row *catalog.Row, namespace string) listed {
	if known, ok := r.objects[row]; ok {
		return known
	}
	var out listed
	out.objects, out.err = r.read(row, "")
	if apierrors.IsForbidden(out.err) {
		refused := out.err
		if out.objects, out.err = r.read(row, namespace); out.err == nil {
			out.err = fmt.Errorf("%s in namespaces other than %s: %w", row.Resource, namespace, refused)
			return out // another namespace may be another workload's
		}
	}
	if apierrors.IsNotFound(out.err) {
		out.err = nil // not installed
	}
	if out.err != nil {
		out.err = fmt.Errorf("%s: %w", row.Resource, out.err)
	}
	r.objects[row] = out
	return out
}

func (r *reading) read(row *catalog.Row, namespace string) (out []catalog.Object, err error) {
	list, err := r.c.CRDs[row.GroupVersion()].REST().Get().NamespaceIfScoped(namespace, namespace != "").Resource(row.Resource).Do(r.ctx).Get()
	if err != nil {
		return nil, err
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		out = append(out, o.(catalog.Object))
		return nil
	})
	return out, err
}

// running reads what runs for the workload, and what happened to it.
func (r *reading) running(f *Facts) {
	namespace, shape := f.Object.GetNamespace(), f.Setup.Shape(f.Object)
	about := map[string]bool{f.Setup.Row.Kind + " " + f.Object.GetName(): true, "DaemonSet " + shape.DaemonSet: true}
	pods, err := r.c.Kube.CoreV1().Pods(namespace).List(r.ctx, metav1.ListOptions{LabelSelector: labels.Set(shape.Selector).String()})
	if err != nil {
		f.PodsUnknown = true
		f.unread(fmt.Errorf("pods: %w", err))
	} else {
		for i := range pods.Items {
			f.Pods = append(f.Pods, &pods.Items[i])
			about["Pod "+pods.Items[i].Name] = true
		}
	}
	for _, set := range shape.Sets {
		about["StatefulSet "+set.Name] = true
		sts, err := r.c.Kube.AppsV1().StatefulSets(namespace).Get(r.ctx, set.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			f.unread(fmt.Errorf("StatefulSet %s: %w", set.Name, err))
		default:
			f.StatefulSets = append(f.StatefulSets, &appsv1.StatefulSet{ObjectMeta: sts.ObjectMeta, Status: sts.Status})
		}
	}
	events, err := r.c.Kube.CoreV1().Events(namespace).List(r.ctx, metav1.ListOptions{})
	if err != nil {
		f.unread(fmt.Errorf("events: %w", err))
		return
	}
	for _, e := range events.Items {
		if about[e.InvolvedObject.Kind+" "+e.InvolvedObject.Name] {
			f.Events = append(f.Events, e)
		}
	}
}
