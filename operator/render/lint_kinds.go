package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// otherKinds are the kinds of the group that rendering does not look at; linting
// reads them strictly and no more.
var otherKinds = map[schema.GroupVersionKind]func() any{
	v1.GroupVersionKind("Alertmanager"):                                  func() any { return &v1.Alertmanager{} },
	v1.GroupVersionKind("ThanosRuler"):                                   func() any { return &v1.ThanosRuler{} },
	v1alpha1.GroupVersionKind(v1alpha1.PrometheusAgentKind):              func() any { return &v1alpha1.PrometheusAgent{} },
	v1alpha1.GroupVersionKind(v1alpha1.AlertmanagerConfigKind):           func() any { return &v1alpha1.AlertmanagerConfig{} },
	v1beta1.SchemeGroupVersion.WithKind(v1alpha1.AlertmanagerConfigKind): func() any { return &v1beta1.AlertmanagerConfig{} },
}

// lintedOnly returns what reads an object of the group that is not rendered; a
// kind that the group does not have is a fault.
func lintedOnly(kind schema.GroupVersionKind) (func(*Objects, []byte) error, bool) {
	if into, ok := otherKinds[kind]; ok {
		return func(_ *Objects, raw []byte) error { return manifest.Decode(raw, into()) }, true
	}
	if kind.Group != v1.SchemeGroupVersion.Group {
		return nil, false
	}
	return func(*Objects, []byte) error {
		return fmt.Errorf("there is no kind %s in %s", kind.Kind, kind.GroupVersion())
	}, true
}
