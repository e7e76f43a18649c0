package central

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// unusedFor is the time without use after which the pods of a namespace are no longer watched.
const unusedFor = 10 * time.Minute

// replicas watches the pods of workloads in the requested namespaces.
type replicas struct {
	list func(namespace string) *cache.ListWatch
	ctx  context.Context //nolint:containedctx // of informers, which begin later

	mu sync.Mutex
	of map[string]*replicasOf
}

type replicasOf struct {
	cache.SharedIndexInformer
	stop context.CancelFunc
	used time.Time
}

// Watch returns the pods of workloads, which are watched in a namespace from the first call for it on, until the context
// ends. list lists and watches pods.
func Watch(ctx context.Context, list func(namespace string) *cache.ListWatch) Replicas {
	return &replicas{list: list, ctx: ctx, of: map[string]*replicasOf{}}
}

// PodsOf returns how to list and watch the pods of workloads.
func PodsOf(kube kubernetes.Interface) func(namespace string) *cache.ListWatch {
	return func(namespace string) *cache.ListWatch {
		all := cache.NewFilteredListWatchFromClient(kube.CoreV1().RESTClient(), "pods", namespace, func(o *metav1.ListOptions) { o.LabelSelector = wellknown.LabelShard })
		all.WatchFuncWithContext = informer.Timely(all.WatchFuncWithContext)
		return all
	}
}

// Of implements [Replicas].
func (r *replicas) Of(namespace string) (pods []*corev1.Pod, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for name, one := range r.of {
		if name != namespace && now.Sub(one.used) >= unusedFor {
			one.stop()
			delete(r.of, name)
		}
	}
	one := r.of[namespace]
	if one == nil {
		one = &replicasOf{SharedIndexInformer: cache.NewSharedIndexInformer(informer.Persistent(r.list(namespace)), &corev1.Pod{}, 0, nil)}
		_ = one.SetTransform(trim) // only fails for started informers
		ctx, stop := context.WithCancel(r.ctx)
		one.stop = stop
		r.of[namespace] = one
		go one.RunWithContext(ctx)
	}
	one.used = now
	if !one.HasSynced() {
		return nil, false
	}
	for _, object := range one.GetStore().List() {
		if pod, is := object.(*corev1.Pod); is {
			pods = append(pods, pod)
		}
	}
	return pods, true
}

// trim removes the fields of a pod that are not needed.
func trim(object any) (any, error) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp, OwnerReferences: pod.OwnerReferences},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase, Conditions: pod.Status.Conditions},
	}, nil
}
