package alertmanager

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// settings are shared by all Alertmanagers. AlertmanagerConfigs are compiled once for all
// Alertmanagers with equal settings.
type settings struct {
	kind    *engine.Kind
	cfg     workload.Config
	configs fragments.Cache[*compiledConfig]
	chunks  document.Chunks // shared by all configurations
}

// Kind returns the kind Alertmanager.
func Kind(cfg workload.Config) *engine.Kind {
	s := &settings{cfg: cfg}
	s.configs.Deps = func(c *compiledConfig) []assets.Dependency { return c.Deps }
	s.kind = &engine.Kind{
		Row: catalog.Alertmanager, Controller: "alertmanager-controller", Label: "alertmanager", Queue: "alertmanager", Program: "Alertmanager",
		Names:        kind,
		StatefulSets: kind.StatefulSets(),
		Selects: []engine.Selects{{
			Row: catalog.AlertmanagerConfig, Action: "SelectingAlertmanagerConfigResources", Named: named,
			Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
				spec := w.(*v1.Alertmanager).Spec
				return spec.AlertmanagerConfigNamespaceSelector, spec.AlertmanagerConfigSelector
			},
		}},
		SelectsAtWill: true, // the Secret in spec.configSecret is enough

		Shape: func(w v1.Workload) engine.Shape { return newBuilder(w.(*v1.Alertmanager), cfg).shape() },
		Open: func(key types.NamespacedName) engine.Gatherer {
			w := fragments.Workload{Kind: v1.AlertmanagerKind, Namespace: key.Namespace, Name: key.Name}
			return &gatherer{settings: s, workload: w, document: configsecret.New(&s.chunks, 0), globals: amconfig.AnyGlobals}
		},
		Gone:     func(kind string, object types.NamespacedName) { s.configs.Forget(kind, object.Namespace, object.Name) },
		ChargeTo: s.configs.ChargeTo,
		Status:   status,
	}
	return s.kind
}

// named returns the name of the AlertmanagerConfig that is the base of the configuration,
// if there is one.
func named(w v1.Workload) []types.NamespacedName {
	if c := w.(*v1.Alertmanager).Spec.AlertmanagerConfiguration; c != nil {
		return []types.NamespacedName{{Namespace: w.GetNamespace(), Name: c.Name}}
	}
	return nil
}

// status returns the desired and the current status of an Alertmanager.
func status(w v1.Workload, s engine.Status) (want, have any) {
	out := v1.AlertmanagerStatus{WorkloadStatus: s.WorkloadStatus}
	if !s.Bare {
		out.Selector = s.Selector
	}
	return out, w.(*v1.Alertmanager).Status
}
