package prometheus

import (
	"iter"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
)

// Peer is an owner that shares its namespace with others of its kind.
type Peer struct {
	Owner
	Foreign bool // another operator is responsible for it
}

func (c *Cluster) peers(o Owner) []Peer {
	if c.Peers == nil {
		return nil
	}
	return c.Peers(o.Kind(), o.GetNamespace())
}

// Cluster is what a reconciliation reads: informer stores in the operator, manifests
// when rendering without a cluster. Objects are not changed.
type Cluster struct {
	// NamespaceLabels returns the labels of a namespace; ok is false when it is
	// not known.
	NamespaceLabels func(name string) (l labels.Set, ok bool)

	ServiceMonitors iter.Seq[*v1.ServiceMonitor]
	PodMonitors     iter.Seq[*v1.PodMonitor]
	Probes          iter.Seq[*v1.Probe]
	ScrapeConfigs   iter.Seq[*v1alpha1.ScrapeConfig] // nil where the kind is not installed
	PrometheusRules iter.Seq[*v1.PrometheusRule]     // nil for agents

	// References resolves values in Secrets and ConfigMaps.
	References assets.Reader

	// RuleConfigMaps returns the live ConfigMaps with the rules of a Prometheus.
	RuleConfigMaps func(namespace, owner string) []*corev1.ConfigMap
	// StatefulSets returns the live StatefulSets of an owner.
	StatefulSets func(namespace, owner string) []*appsv1.StatefulSet
	// Claims returns the claims of an owner's pods, not nil; nil where they are left alone.
	Claims func(namespace, owner string) []*corev1.PersistentVolumeClaim
	// DaemonSet returns a live DaemonSet of the operator; nil where they are not
	// watched.
	DaemonSet func(namespace, name string) (*appsv1.DaemonSet, bool)
	// Peers returns the owners of a kind in a namespace; nil where each stands alone.
	Peers func(kind *Kind, namespace string) []Peer
	// Pods returns the live pods of an owner; nil where there are none.
	Pods func(namespace, owner string) []*corev1.Pod
	// Secrets returns the live Secrets that the operator made in a namespace, as
	// apply.DigestSecret leaves them.
	Secrets func(namespace string) []*corev1.Secret
}
