package memo

import (
	"context"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

var (
	_ readers.Versioned = (*Reader)(nil)
	_ readers.Feed      = (*Reader)(nil)
)

// Version implements [readers.Versioned]. It also changes when a result without a watch expires.
func (r *Reader) Version() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	return strconv.FormatUint(r.version, 10)
}

// Changes implements [readers.Feed] for the lists that are watched. A read that starts after
// a change was received sees it.
func (r *Reader) Changes(ctx context.Context, each func(readers.Change)) error {
	return r.feed.Changes(ctx, each)
}

// news returns the change notification for a watch event; ok is false if there is none.
func news(of schema.GroupVersionResource, o metav1.Object) (c readers.Change, ok bool) {
	switch of {
	case readers.Pods, readers.StatefulSets, readers.DaemonSets:
		workload, ok := workloadOf(o)
		return readers.Change{Kind: readers.RolloutChanged, Object: workload}, ok
	}
	for _, row := range catalog.All {
		if row.GroupVersionResource() != of {
			continue
		}
		kind := readers.ObjectChanged
		if row.IsWorkload() {
			kind = readers.WorkloadChanged
		}
		return readers.Change{Kind: kind, Object: catalog.RefOf(row.Kind, o)}, true
	}
	return c, false
}

// workloadOf returns the workload that a pod, StatefulSet or DaemonSet belongs to; ok is false if
// there is none.
func workloadOf(o metav1.Object) (ref catalog.Ref, ok bool) {
	labels := o.GetLabels()
	if labels[wellknown.LabelAppManagedBy] != wellknown.ManagedBy {
		return ref, false
	}
	kind, name := strings.ReplaceAll(labels[wellknown.LabelAppName], "-", ""), labels[wellknown.LabelAppInstance]
	for _, row := range catalog.All {
		if row.IsWorkload() && strings.EqualFold(row.Kind, kind) && name != "" {
			return catalog.Ref{Kind: row.Kind, Namespace: o.GetNamespace(), Name: name}, true
		}
	}
	return ref, false
}
