package recent

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/online"
	"github.com/firekeeper-dev/firekeeper/operator/wellknown"
)

// feedPause is how long changes are collected before somebody is told of them.
const feedPause = 200 * time.Millisecond

var (
	_ insight.Versioned = (*Reader)(nil)
	_ insight.Feed      = (*Reader)(nil)
)

// Version implements [insight.Versioned]. It also changes when something must be read again
// because no watch tells of its changes.
func (r *Reader) Version() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	return strconv.FormatUint(r.version, 10)
}

// feed tells of changes. Whoever makes one never waits for those who listen.
type feed struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener collects changes.
type listener struct {
	wake    chan struct{} // has one element when there are changes
	pending map[insight.Change]struct{}
}

// listening reports whether somebody does.
func (f *feed) listening() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.listeners) > 0
}

func (f *feed) tell(c insight.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		l.pending[c] = struct{}{}
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (f *feed) take(l *listener) map[insight.Change]struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := l.pending
	l.pending = map[insight.Change]struct{}{}
	return out
}

// Changes implements [insight.Feed]: of what was read and may be watched. What is read after
// each was called has the change.
func (r *Reader) Changes(ctx context.Context, each func(insight.Change)) error {
	l := &listener{wake: make(chan struct{}, 1), pending: map[insight.Change]struct{}{}}
	r.feed.mu.Lock()
	r.feed.listeners[l] = struct{}{}
	r.feed.mu.Unlock()
	defer func() {
		r.feed.mu.Lock()
		defer r.feed.mu.Unlock()
		delete(r.feed.listeners, l)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(feedPause):
		}
		for c := range r.feed.take(l) {
			each(c)
		}
	}
}

// news is what a change is about; ok is false if nobody wants to know.
func news(of schema.GroupVersionResource, o metav1.Object) (c insight.Change, ok bool) {
	switch of {
	case online.Pods, online.StatefulSets, online.DaemonSets:
		workload, ok := workloadOf(o)
		return insight.Change{Kind: insight.RolloutChanged, Object: workload}, ok
	}
	for _, row := range catalog.All {
		if row.GroupVersionResource() != of {
			continue
		}
		kind := insight.ObjectChanged
		if row.IsWorkload() {
			kind = insight.OwnerChanged
		}
		return insight.Change{Kind: kind, Object: explain.RefOf(row.Kind, o)}, true
	}
	return c, false
}

// workloadOf is whose pod or set an object is; ok is false if it is of none.
func workloadOf(o metav1.Object) (ref explain.Ref, ok bool) {
	labels := o.GetLabels()
	if labels[wellknown.LabelAppManagedBy] != wellknown.ManagedBy {
		return ref, false
	}
	kind, name := strings.ReplaceAll(labels[wellknown.LabelAppName], "-", ""), labels[wellknown.LabelAppInstance]
	for _, row := range catalog.All {
		if row.IsWorkload() && strings.EqualFold(row.Kind, kind) && name != "" {
			return explain.Ref{Kind: row.Kind, Namespace: o.GetNamespace(), Name: name}, true
		}
	}
	return ref, false
}
