package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Live is a cluster that can be asked.
type Live struct {
	Kube         kubernetes.Interface
	V1, V1alpha1 *client.Client
	// Instances are the namespaces to look for owners in.
	Instances informer.Namespaces
}

// Ask reads the object, its namespace and the owners. What the object refers to
// is read when an owner compiles it. Nothing else is.
//
// Errors: the object does not exist; the cluster does not answer or does not allow it.
func (l Live) Ask(ctx context.Context, n Name) (Question, error) {
	q := Question{Kind: n.subject.kind, Object: n.subject.empty()}
	crds := l.V1
	if n.subject.alpha {
		crds = l.V1alpha1
	}
	err := crds.REST().Get().Namespace(n.Namespace).Resource(n.subject.resource).Name(n.Name).Do(ctx).Into(q.Object)
	switch {
	case apierrors.IsNotFound(err):
		return q, fmt.Errorf("%s does not exist in the cluster", n)
	case err != nil:
		return q, fmt.Errorf("read %s: %w", n, err)
	}
	ns, err := l.Kube.CoreV1().Namespaces().Get(ctx, n.Namespace, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return q, fmt.Errorf("read the labels of namespace %s: %w", n.Namespace, err)
	}
	gone := err != nil
	q.NamespaceLabels = func(name string) (labels.Set, bool) {
		if gone || name != n.Namespace {
			return nil, false
		}
		return ns.Labels, true
	}
	q.References = assets.NewCache(l.Kube, unwatched{}).Reader(ctx)
	q.RuleConfigMaps = func(namespace, owner string) []*corev1.ConfigMap { return l.ruleConfigMaps(ctx, namespace, owner) }
	q.Owners, err = l.owners(ctx)
	return q, err
}

// unwatched makes the cache read what it is asked for.
type unwatched struct{}

func (unwatched) Version(assets.Ref) (string, bool) { return "", false }

func (l Live) owners(ctx context.Context) ([]Candidate, error) {
	var out []Candidate
	for _, kind := range []struct {
		resource string
		crds     *client.Client
		list     func() runtime.Object
		owner    func(runtime.Object) prometheus.Owner
	}{
		{v1.PrometheusResource, l.V1, func() runtime.Object { return &v1.PrometheusList{} },
			func(o runtime.Object) prometheus.Owner { return prometheus.ForServer(o.(*v1.Prometheus)) }},
		{v1alpha1.PrometheusAgentResource, l.V1alpha1, func() runtime.Object { return &v1alpha1.PrometheusAgentList{} },
			func(o runtime.Object) prometheus.Owner { return prometheus.ForAgent(o.(*v1alpha1.PrometheusAgent)) }},
	} {
		for _, namespace := range l.Instances.Watches() {
			list := kind.list()
			err := kind.crds.REST().Get().NamespaceIfScoped(namespace, namespace != "").Resource(kind.resource).Do(ctx).Into(list)
			if apierrors.IsNotFound(err) {
				break // the kind is not installed
			}
			if err == nil {
				err = meta.EachListItem(list, func(o runtime.Object) error {
					out = append(out, Prometheus(kind.owner(o)))
					return nil
				})
			}
			if err != nil {
				return nil, fmt.Errorf("list %s (--prometheus-instance-namespaces limits the namespaces): %w", kind.resource, err)
			}
		}
	}
	return out, nil
}

// ruleConfigMaps returns nothing where they may not be read: they only tell
// where a rule file is.
func (l Live) ruleConfigMaps(ctx context.Context, namespace, owner string) []*corev1.ConfigMap {
	list, err := l.Kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{workload.LabelRuleOwner: owner}).String(),
	})
	if err != nil {
		return nil
	}
	var out []*corev1.ConfigMap
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}
