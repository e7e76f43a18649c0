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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Live is a cluster that can be asked.
type Live struct {
	Kube kubernetes.Interface
	// CRDs reach the versions of our group.
	CRDs map[schema.GroupVersion]*client.Client
}

// Ask reads the object, its namespace and the workloads of the kinds. What the object refers to
// is read when a workload compiles it. Nothing else is.
//
// Errors: the object does not exist; the cluster does not answer or does not allow it.
func (l Live) Ask(ctx context.Context, setups []engine.Setup, n Name) (Question, error) {
	q := Question{Row: n.row, Object: n.row.New(), Setups: setups}
	err := l.client(n.row).REST().Get().Namespace(n.Namespace).Resource(n.row.Resource).Name(n.Name).Do(ctx).Into(q.Object)
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
	q.References = l.References(ctx)
	q.RuleConfigMaps = func(c Candidate) []*corev1.ConfigMap { return l.ruleConfigMaps(ctx, c) }
	for _, setup := range setups {
		if err := l.list(ctx, setup, &q); err != nil {
			return q, fmt.Errorf("list %s (--%s-instance-namespaces limits the namespaces): %w", setup.Resource, setup.Flags, err)
		}
	}
	return q, nil
}

// References reads the Secrets and ConfigMaps that objects refer to when it is asked for them.
func (l Live) References(ctx context.Context) assets.Reader {
	return assets.NewCache(l.Kube, unwatched{}).Reader(ctx)
}

// unwatched makes the cache read what it is asked for.
type unwatched struct{}

func (unwatched) Version(assets.Ref) (string, bool) { return "", false }

// client reaches a kind.
func (l Live) client(row *catalog.Row) *client.Client { return l.CRDs[row.GroupVersion()] }

// list adds the workloads of a kind.
func (l Live) list(ctx context.Context, setup engine.Setup, q *Question) error {
	for _, namespace := range setup.Instances.Watches() {
		list, err := l.client(setup.Row).REST().Get().NamespaceIfScoped(namespace, namespace != "").Resource(setup.Resource).Do(ctx).Get()
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && setup.SelectsBy(q.Row.Kind).Row == nil {
			return nil // not installed, or none of them could use the object
		}
		if err != nil {
			return err
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			q.Workloads = append(q.Workloads, Candidate{Setup: setup, Object: o.(v1.Workload)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ruleConfigMaps returns nothing where they may not be read: they only tell
// where a rule file is.
func (l Live) ruleConfigMaps(ctx context.Context, c Candidate) []*corev1.ConfigMap {
	list, err := l.Kube.CoreV1().ConfigMaps(c.Object.GetNamespace()).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{c.Setup.Names.RuleLabel: c.Object.GetName()}).String(),
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
