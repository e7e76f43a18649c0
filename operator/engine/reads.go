package engine

import (
	"context"
	"iter"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// reads returns the cluster as cached, without the objects of a particular workload.
func (c *Controller) reads(references assets.Reader) Cluster {
	return Cluster{
		NamespaceLabels: c.stores.namespaceLabels, Objects: c.stores.objects, selections: &c.stores.selections,
		namespaces: c.stores.allNamespaces, References: references, Current: c.assets.Current, Now: time.Now(),
	}
}

// live returns the existing objects of a workload.
//
// Errors: objects that only the API server has cannot be read.
func (c *Controller) live(ctx context.Context, w v1.Workload, state *memory) (Live, error) {
	namespace := w.GetNamespace()
	named := informer.Labelled(c.kind.nameLabel(), w.GetName())
	out := Live{
		StatefulSets: map[string]*appsv1.StatefulSet{}, Secrets: map[string]*corev1.Secret{},
		Pods: c.podsOf(catalog.KeyOf(w)),
	}
	for _, s := range c.writer.StatefulSets().List(namespace, named) {
		out.StatefulSets[s.Name] = s
	}
	for _, s := range c.writer.Secrets().List(namespace, informer.NamedAfter(c.kind.prefix()+w.GetName())) {
		out.Secrets[s.Name] = s
	}
	out.sharing = c.sharing(namespace)
	out.Peers = out.sharing.peers
	if c.stores.claims != nil {
		out.Claims = append([]*corev1.PersistentVolumeClaim{}, c.stores.claims.List(namespace, named)...)
	}
	if c.stores.daemonSets != nil {
		out.DaemonSet, _ = c.writer.DaemonSets().Get(namespace, c.kind.prefix()+w.GetName())
	}
	if c.stores.configMaps != nil {
		out.ConfigMaps = c.writer.ConfigMaps().List(namespace, informer.Labelled(c.kind.Names.RuleLabel, w.GetName()))
	}
	return out, c.complete(ctx, catalog.KeyOf(w), &out, c.lastWritten(state))
}

// complete adds Secrets and ConfigMaps of a workload that its pods mount and the caches may lack, because
// they could not be read. A plan without them would put their content into other objects. known are those
// of the last plan: objects that are not among them did not exist.
//
// Errors: an object cannot be read.
func (c *Controller) complete(ctx context.Context, key types.NamespacedName, live *Live, known map[assets.Ref]bool) error {
	ours := informer.Labelled(wellknown.LabelManagedBy, wellknown.ManagedBy)
	for _, name := range c.divided(key, live, assets.Secret, known) {
		if live.Secrets[name] != nil {
			continue
		}
		s, ok, err := c.writer.FindSecret(ctx, key.Namespace, name)
		if err != nil {
			return err
		}
		if ok && ours.Matches(s) {
			live.Secrets[name] = s
			c.writer.Secrets().Note(s)
		}
	}
	if c.stores.configMaps == nil {
		return nil
	}
	rules := informer.Labelled(c.kind.Names.RuleLabel, key.Name)
	for _, name := range c.divided(key, live, assets.ConfigMap, known) {
		if slices.ContainsFunc(live.ConfigMaps, func(m *corev1.ConfigMap) bool { return m.Name == name }) {
			continue
		}
		m, ok, err := c.writer.FindConfigMap(ctx, key.Namespace, name)
		if err != nil {
			return err
		}
		if ok && rules.Matches(m) {
			live.ConfigMaps = append(live.ConfigMaps, m)
			c.writer.ConfigMaps().Note(m)
		}
	}
	return nil
}

// divided returns the names of the mounted Secrets or ConfigMaps over which content is divided and that may exist, sorted.
func (c *Controller) divided(key types.NamespacedName, live *Live, kind assets.Kind, known map[assets.Ref]bool) []string {
	var out []string
	for pod := range live.podTemplates() {
		for _, name := range mounts(pod, kind) {
			may := known == nil || known[assets.Ref{Kind: kind, Namespace: key.Namespace, Name: name}]
			if may && c.kind.Names.Divided(key.Name, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// podTemplates iterates over the pod templates of the StatefulSets and of the DaemonSet.
func (l *Live) podTemplates() iter.Seq[corev1.PodSpec] {
	return func(yield func(corev1.PodSpec) bool) {
		for _, s := range l.StatefulSets {
			if !yield(s.Spec.Template.Spec) {
				return
			}
		}
		if l.DaemonSet != nil {
			yield(l.DaemonSet.Spec.Template.Spec)
		}
	}
}
