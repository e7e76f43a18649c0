package thanosruler

import (
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// settings are shared by all ThanosRulers.
type settings struct {
	kind  *engine.Kind
	cfg   workload.Config
	cache *rules.Cache
}

// Kind returns the kind ThanosRuler. The cache may be shared with other kinds that
// evaluate rules.
func Kind(cfg workload.Config, cache *rules.Cache) *engine.Kind {
	s := &settings{cfg: cfg, cache: cache}
	s.kind = &engine.Kind{
		Row: catalog.ThanosRuler, Controller: "thanos-controller", Label: "thanos", Queue: "thanosruler", Program: "Thanos",
		Names:        kind,
		StatefulSets: kind.StatefulSets(),
		Selects: []engine.Selects{{
			Row: catalog.PrometheusRule, Action: "SelectingPrometheusRuleResources",
			Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
				spec := w.(*v1.ThanosRuler).Spec
				return spec.RuleNamespaceSelector, spec.RuleSelector
			},
		}},
		Shape: func(w v1.Workload) engine.Shape { return newBuilder(w.(*v1.ThanosRuler), cfg).shape() },
		Open: func(key types.NamespacedName) engine.Gatherer {
			return &gatherer{settings: s, Compiler: rules.Compiler{Cache: cache, Workload: cacheKey(key.Namespace, key.Name)}}
		},
		Ahead:    &engine.Ahead{Of: catalog.PrometheusRule, Compile: s.compileRules},
		Gone:     func(kind string, object types.NamespacedName) { cache.Forget(kind, object.Namespace, object.Name) },
		ChargeTo: cache.ChargeTo,
		Status:   status,
	}
	return s.kind
}

// status returns the desired and the current status of a ThanosRuler.
func status(w v1.Workload, s engine.Status) (want, have any) {
	return v1.ThanosRulerStatus{WorkloadStatus: s.WorkloadStatus}, w.(*v1.ThanosRuler).Status
}
