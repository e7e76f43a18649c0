package informer

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// part is the watch of one namespace when all namespaces cannot be watched.
type part struct {
	stop context.CancelFunc
	done chan struct{} // closed when the watch has ended or was stopped

	mu     sync.Mutex
	synced bool // whether the namespace has been listed
}

const (
	// partRetry is the pause between attempts to list or watch a namespace.
	partRetry = 5 * time.Second
	// partWatch is the minimum duration of one watch; the maximum is twice as long.
	partWatch = 5 * time.Minute
)

// watchParts watches the namespaces of names where this is permitted and returns the names in the others.
func (n *byNames) watchParts(ctx context.Context, names []types.NamespacedName, watches *sync.WaitGroup) ([]types.NamespacedName, error) {
	used := map[string]bool{}
	var out []types.NamespacedName
	for _, name := range names {
		if !used[name.Namespace] {
			used[name.Namespace] = true
			if err := n.watchPart(ctx, name.Namespace, watches); err != nil {
				return nil, err
			}
		}
		if n.parts[name.Namespace] == nil {
			out = append(out, name)
		}
	}
	for namespace, p := range n.parts {
		if !used[namespace] {
			n.endPart(namespace, p)
		}
	}
	return out, nil
}

// watchPart starts to watch a namespace unless it is watched already or this is forbidden.
func (n *byNames) watchPart(ctx context.Context, namespace string, watches *sync.WaitGroup) error {
	if p := n.parts[namespace]; p != nil {
		select {
		case <-p.done: // no longer permitted
			n.endPart(namespace, p)
			n.asked[namespace] = time.Now()
			return nil
		default:
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.synced { // before this look, so the store has its objects by now
			n.cover.part(namespace, true)
		}
		return nil
	}
	if at, asked := n.asked[namespace]; asked && time.Since(at) < retryWatch {
		return nil
	}
	for _, verb := range []string{"watch", "list"} {
		if may, err := n.may(ctx, verb, namespace); err != nil || !may {
			if err == nil {
				n.asked[namespace] = time.Now()
			}
			return err
		}
	}
	own, cancel := context.WithCancel(ctx)
	p := &part{stop: cancel, done: make(chan struct{})}
	n.parts[namespace] = p
	watches.Go(func() {
		defer close(p.done)
		n.follow(own, namespace, p)
	})
	return nil
}

// endPart stops a watch and waits until it sends no more events. Its objects remain until
// they are read by name or no longer named.
func (n *byNames) endPart(namespace string, p *part) {
	p.stop()
	<-p.done
	delete(n.parts, namespace)
	delete(n.asked, namespace)
	n.cover.part(namespace, false)
}

// follow lists and watches one namespace until the context ends or this is forbidden.
func (n *byNames) follow(ctx context.Context, namespace string, p *part) {
	api := n.part(namespace)
	for ctx.Err() == nil {
		list, err := api.ListWithContext(ctx, metav1.ListOptions{})
		var now snapshot
		if err == nil {
			now, err = n.listed(list)
		}
		if err == nil {
			n.replace(func(name types.NamespacedName) bool { return name.Namespace == namespace }, now.objects)
			p.mu.Lock()
			p.synced = true
			p.mu.Unlock()
			err = n.stream(ctx, namespace, now.version)
		}
		if apierrors.IsForbidden(err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(partRetry):
		}
	}
}

// stream watches one namespace from a version.
//
// Errors: the watch could not be started.
func (n *byNames) stream(ctx context.Context, namespace, version string) error {
	for ctx.Err() == nil {
		seconds := int64((partWatch + rand.N(partWatch)) / time.Second)
		began := time.Now()
		w, err := n.part(namespace).WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &seconds, AllowWatchBookmarks: true})
		if err != nil {
			return err
		}
		next, ok := n.forward(ctx, w)
		w.Stop()
		if !ok || time.Since(began) < time.Second {
			return nil // the version is too old, or the server ends watches immediately
		}
		if next != "" {
			version = next
		}
	}
	return nil
}

// forward sends the events of a watch until it ends and returns the last version; ok is false after an error.
func (n *byNames) forward(ctx context.Context, w watch.Interface) (version string, ok bool) {
	for {
		select {
		case <-ctx.Done():
			return version, true
		case e, open := <-w.ResultChan():
			if !open {
				return version, true
			}
			obj, is := e.Object.(Object)
			if e.Type == watch.Error || !is {
				return version, false
			}
			version = obj.GetResourceVersion()
			if e.Type == watch.Bookmark {
				continue
			}
			trimmed, err := n.trim(obj)
			if err != nil {
				return version, false
			}
			e.Object = trimmed.(Object)
			n.mu.Lock()
			n.apply(e)
			n.mu.Unlock()
		}
	}
}
