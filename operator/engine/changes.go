package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
)

// noteContent records the content of a reconciliation whose content steps have succeeded. Content
// that was there when the operator started is no change.
func (c *Controller) noteContent(key types.NamespacedName, plan *Plan, written bool, pods []*corev1.Pod) {
	before := c.delivered(key)
	if before.hash == plan.Hash || before.hash == "" && !written {
		c.timeline.Drop(key)
		return
	}
	var running []types.NamespacedName
	for _, pod := range pods {
		if started(pod) {
			running = append(running, catalog.KeyOf(pod))
		}
	}
	content := timeline.Content{Hash: plan.Hash}
	changed := plan.Delivered.Since(before.want.Content)
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		content.Parts = append(content.Parts, timeline.Part{Path: path, SHA256: changed[path]})
	}
	c.timeline.Write(key, content, running)
}

// annotate patches an annotation of a pod.
func (c *Controller) annotate(ctx context.Context, namespace, name, key, value string) error {
	if err := c.writer.PodAnnotation(ctx, namespace, name, key, value); err != nil {
		return err
	}
	if pod, ok := c.stores.pods.Get(namespace, name); ok {
		if w, ours := c.kind.workloadOfPod(pod); ours {
			c.timeline.Annotate(w, delivery.HashOf(value), catalog.KeyOf(pod))
		}
	}
	return nil
}

// confirm records a report of a pod about the content that it should have.
func (c *Controller) confirm(key, pod types.NamespacedName, hash string, f delivery.Finding) {
	got := timeline.Confirmed{OnDisk: f.OnDisk, Rejected: f.State == delivery.Refused, Earlier: earlier(f)}
	if f.Good() {
		got.Loaded = f.Reload
	}
	c.timeline.Confirm(key, hash, pod, got)
}

// earlier returns when a pod had all parts of an earlier change, as far as it reports that.
func earlier(f delivery.Finding) func(parts []timeline.Part, written time.Time) (onDisk, loaded time.Time) {
	return func(parts []timeline.Part, written time.Time) (onDisk, loaded time.Time) {
		lost, notLoaded := false, false
		for _, p := range parts {
			found, at := f.When(p.Path, p.SHA256, written)
			lost, notLoaded = lost || found.IsZero(), notLoaded || at.IsZero()
			onDisk, loaded = later(onDisk, found), later(loaded, at)
		}
		if lost {
			onDisk = time.Time{}
		}
		if notLoaded {
			loaded = time.Time{}
		}
		return onDisk, loaded
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// reached reports a stage of a change.
func (c *Controller) reached(key types.NamespacedName, ch timeline.Change, stage timeline.Reached) {
	observe := func(stage string, at time.Time) {
		if !at.IsZero() {
			c.metrics.changes.WithLabelValues(stage).Observe(at.Sub(ch.Noticed).Seconds())
		}
	}
	switch stage {
	case timeline.Written:
		observe("written", ch.Written)
	case timeline.Annotated:
		observe("annotated", ch.Annotated.At)
	case timeline.Finished:
		c.changed(AboutPods, c.kind.Kind, key)
		if ch.Pods > 0 && ch.Complete() {
			observe("on_disk", ch.OnDisk.At)
			observe("loaded", ch.Loaded.At)
		}
		c.log.Debug("change delivered", "key", key.String(), "objects", ch.Objects, "events", ch.Events, "hash", ch.Hash,
			"noticed", ch.Noticed, "started", ch.Started, "written", ch.Written, "annotated", ch.Annotated.At, "on_disk", ch.OnDisk.At, "loaded", ch.Loaded.At,
			"pods", ch.Pods, "pods_loaded", ch.Loaded.Pods, "patches", ch.Patches, "superseded", ch.Superseded)
	}
}

// Timeline returns the last changes of the content that the pods of a workload mount, the last one
// first.
func (c *Controller) Timeline(key types.NamespacedName) []timeline.Change {
	return c.timeline.Last(key)
}
