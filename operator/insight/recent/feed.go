package recent

import (
	"context"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/online"
	"github.com/firekeeper-dev/firekeeper/operator/wellknown"
)

var (
	_ online.Versioned = (*Reader)(nil)
	_ online.Feed      = (*Reader)(nil)
)

// Version implements [online.Versioned]. It also changes when something must be read again
// because no watch tells of its changes.
func (r *Reader) Version() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	return strconv.FormatUint(r.version, 10)
}

// Changes implements [online.Feed] for what was read and may be watched. A read that starts
// after a change was received sees it.
func (r *Reader) Changes(ctx context.Context, each func(online.Change)) error {
	return r.feed.Changes(ctx, each)
}

// news is what a change is about; ok is false if nobody wants to know.
func news(of schema.GroupVersionResource, o metav1.Object) (c online.Change, ok bool) {
	switch of {
	case online.Pods, online.StatefulSets, online.DaemonSets:
		workload, ok := workloadOf(o)
		return online.Change{Kind: online.RolloutChanged, Object: workload}, ok
	}
	for _, row := range catalog.All {
		if row.GroupVersionResource() != of {
			continue
		}
		kind := online.ObjectChanged
		if row.IsWorkload() {
			kind = online.WorkloadChanged
		}
		return online.Change{Kind: kind, Object: catalog.RefOf(row.Kind, o)}, true
	}
	return c, false
}

// workloadOf is whose pod or set an object is; ok is false if it is of none.
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
