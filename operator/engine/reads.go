package engine

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
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
func (c *Controller) live(w v1.Workload) Live {
	namespace := w.GetNamespace()
	named := informer.Labelled(c.kind.nameLabel(), w.GetName())
	out := Live{
		StatefulSets: map[string]*appsv1.StatefulSet{}, Secrets: map[string]*corev1.Secret{},
		Pods: c.podsOf(keyOf(w)),
	}
	for _, s := range c.writer.StatefulSets().List(namespace, named) {
		out.StatefulSets[s.Name] = s
	}
	for _, s := range c.writer.Secrets().List(namespace, informer.NamedAfter(c.kind.prefix()+w.GetName())) {
		out.Secrets[s.Name] = s
	}
	out.Peers = c.peers(namespace)
	if c.stores.claims != nil {
		out.Claims = append([]*corev1.PersistentVolumeClaim{}, c.stores.claims.List(namespace, named)...)
	}
	if c.stores.daemonSets != nil {
		out.DaemonSet, _ = c.writer.DaemonSets().Get(namespace, c.kind.prefix()+w.GetName())
	}
	if c.stores.configMaps != nil {
		out.ConfigMaps = c.writer.ConfigMaps().List(namespace, informer.Labelled(c.kind.Names.RuleLabel, w.GetName()))
	}
	return out
}
