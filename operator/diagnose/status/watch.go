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
	// pause is the least time between two answers.
	pause = 2 * time.Second
	// longest is the time after which is read again where nothing told of a change, as
	// where watching is not permitted.
	longest = 30 * time.Second
)

// Watch calls again at once, and whenever something has changed that a page may show, until
// the context ends or again fails. It never calls more often than every two seconds.
func (c Cluster) Watch(ctx context.Context, meta metadata.Interface, of Subject, again func(context.Context) error) error {
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // told already
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
			// What may not be watched is read again after some time.
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

// onChange calls again at first and after changes, with a pause after each call; and after
// the longest time in any case.
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

// sleep returns false when the context ended.
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

// watched are the resources that a page shows, by namespace.
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
