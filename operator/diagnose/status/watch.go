package status

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

const (
	// pause is the minimum time between two reads.
	pause = 2 * time.Second
	// longest is the maximum time without a reread, for example when watching is forbidden.
	longest = 30 * time.Second
)

// Watch calls again immediately, and after every change that may affect a page, until the
// context is done or again fails. It calls again at most once every two seconds.
func (c Cluster) Watch(ctx context.Context, meta metadata.Interface, of Subject, again func(context.Context) error) error {
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // already notified
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
	}
	for namespace, resources := range c.watched(of) {
		factory := metadatainformer.NewFilteredSharedInformerFactory(meta, 0, namespace, nil)
		for _, resource := range resources {
			informer := factory.ForResource(resource).Informer()
			// Ignore errors: onChange rereads periodically.
			if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
				return err
			}
			if _, err := informer.AddEventHandler(handler); err != nil {
				return err
			}
		}
		factory.Start(ctx.Done())
	}
	return onChange(ctx, changed, pause, longest, again)
}

// onChange calls again immediately and after changes. It waits for at least pause and at most
// pause plus longest between calls.
func onChange(ctx context.Context, changed <-chan struct{}, pause, longest time.Duration, again func(context.Context) error) error {
	for {
		if err := again(ctx); err != nil {
			return err
		}
		if !sleep(ctx, nil, pause) || !sleep(ctx, changed, longest) {
			return nil
		}
	}
}

// sleep waits for a change or until most has passed. It returns false if the context is done.
func sleep(ctx context.Context, changed <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-timer.C:
	}
	return true
}

// watched returns the resources to watch, by namespace.
func (c Cluster) watched(of Subject) map[string][]schema.GroupVersionResource {
	all := []schema.GroupVersionResource{corev1.SchemeGroupVersion.WithResource("namespaces")}
	seen := map[schema.GroupVersionResource]bool{}
	add := func(r schema.GroupVersionResource) {
		if !seen[r] {
			seen[r] = true
			all = append(all, r)
		}
	}
	own := []schema.GroupVersionResource{corev1.SchemeGroupVersion.WithResource("pods"), corev1.SchemeGroupVersion.WithResource("events")}
	for _, s := range c.Setups {
		if of.Row != nil && of.Row != s.Row {
			continue
		}
		own = append(own, s.GroupVersionResource())
		for _, k := range s.Selects {
			add(k.GroupVersionResource())
		}
	}
	if of.Name.Namespace == "" {
		return map[string][]schema.GroupVersionResource{"": append(all, own...)}
	}
	return map[string][]schema.GroupVersionResource{"": all, of.Name.Namespace: own}
}
