package insight

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// deliveries returns how the last changes of a workload have reached its pods, without objects that
// the caller may not see.
func (c *Cluster) deliveries(a *access.Checker, e *entry) (out []Delivery) {
	if c.Timeline == nil {
		return nil
	}
	for _, change := range c.Timeline(e.candidate.Setup.Row, e.ref.Key()) {
		d := Delivery{Change: change}
		d.Objects = nil
		for _, o := range change.Objects {
			if e.names(a, o) {
				d.Objects = append(d.Objects, o)
			} else {
				d.Hidden++
			}
		}
		for _, t := range []*time.Time{&d.Noticed, &d.Started, &d.Written, &d.Annotated.At, &d.OnDisk.At, &d.Loaded.At} {
			*t = t.UTC().Truncate(time.Millisecond)
		}
		out = append(out, d)
	}
	return out
}

// others are the kinds besides those of the operator whose events lead to changes.
var others = map[string]schema.GroupVersionResource{
	"Secret": readers.Secrets, "ConfigMap": readers.ConfigMaps, "Service": readers.Services, "StatefulSet": readers.StatefulSets, "DaemonSet": readers.DaemonSets, "Namespace": readers.Namespaces,
}

// names reports whether the caller may see the name of an object that has changed: of the workload
// itself, of an object that it selects, or of one that the caller may get.
func (e *entry) names(a *access.Checker, o catalog.Ref) bool {
	_, selected := e.states[o]
	if o == e.ref || selected || a.MayGet(o) {
		return true
	}
	of, known := others[o.Kind]
	namespace := o.Namespace
	if o.Kind == "Namespace" {
		namespace = o.Name
	}
	return known && a.MayResource("get", of.GroupResource(), namespace)
}
