// Package catalog lists the kinds of monitoring.coreos.com, one row each. Code that
// handles several kinds iterates over these rows; there is no other list.
package catalog

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
)

// Object is an object of any kind.
type Object = interface {
	metav1.Object
	runtime.Object
}

// Row is a kind in one version.
type Row struct {
	schema.GroupVersionKind
	Resource string        // in URLs and RBAC: "servicemonitors"
	Short    string        // for kubectl: "smon"
	New      func() Object // returns an empty object: a v1.Workload or a v1.ConfigResource
	// Field is the prefix of the two fields with which workloads select objects of the
	// kind: "serviceMonitor" means serviceMonitorSelector and
	// serviceMonitorNamespaceSelector. Empty for workloads.
	Field string
	// Flags is the prefix of the instance flags of a workload kind: "prometheus" means
	// --prometheus-instance-namespaces and --prometheus-instance-selector.
	Flags string
	// Recent means that clusters with CRDs of an older release lack the kind.
	Recent bool
}

// Workloads, for which the operator manages pods.
var (
	Prometheus = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.PrometheusKind), Resource: v1.PrometheusResource, Short: "prom",
		New: func() Object { return &v1.Prometheus{} }, Flags: "prometheus",
	}
	PrometheusAgent = &Row{
		GroupVersionKind: v1alpha1.GroupVersionKind(v1alpha1.PrometheusAgentKind), Resource: v1alpha1.PrometheusAgentResource, Short: "promagent",
		New: func() Object { return &v1alpha1.PrometheusAgent{} }, Flags: "prometheus",
	}
	Alertmanager = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.AlertmanagerKind), Resource: v1.AlertmanagerResource, Short: "am",
		New: func() Object { return &v1.Alertmanager{} }, Flags: "alertmanager",
	}
	ThanosRuler = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.ThanosRulerKind), Resource: v1.ThanosRulerResource, Short: "ruler",
		New: func() Object { return &v1.ThanosRuler{} }, Flags: "thanos-ruler",
	}
)

// Configuration objects, which workloads select.
var (
	ServiceMonitor = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.ServiceMonitorKind), Resource: v1.ServiceMonitorResource, Short: "smon",
		New: func() Object { return &v1.ServiceMonitor{} }, Field: "serviceMonitor",
	}
	PodMonitor = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.PodMonitorKind), Resource: v1.PodMonitorResource, Short: "pmon",
		New: func() Object { return &v1.PodMonitor{} }, Field: "podMonitor",
	}
	Probe = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.ProbeKind), Resource: v1.ProbeResource, Short: "prb",
		New: func() Object { return &v1.Probe{} }, Field: "probe",
	}
	ScrapeConfig = &Row{
		GroupVersionKind: v1alpha1.GroupVersionKind(v1alpha1.ScrapeConfigKind), Resource: v1alpha1.ScrapeConfigResource, Short: "scfg",
		New: func() Object { return &v1alpha1.ScrapeConfig{} }, Field: "scrapeConfig", Recent: true,
	}
	PrometheusRule = &Row{
		GroupVersionKind: v1.GroupVersionKind(v1.PrometheusRuleKind), Resource: v1.PrometheusRuleResource, Short: "promrule",
		New: func() Object { return &v1.PrometheusRule{} }, Field: "rule",
	}
	AlertmanagerConfig = &Row{
		GroupVersionKind: v1alpha1.GroupVersionKind(v1alpha1.AlertmanagerConfigKind), Resource: v1alpha1.AlertmanagerConfigResource, Short: "amcfg",
		New: func() Object { return &v1alpha1.AlertmanagerConfig{} }, Field: "alertmanagerConfig",
	}
	// AlertmanagerConfigBeta is the other version of AlertmanagerConfig.
	AlertmanagerConfigBeta = &Row{
		GroupVersionKind: v1beta1.SchemeGroupVersion.WithKind(v1alpha1.AlertmanagerConfigKind), Resource: v1alpha1.AlertmanagerConfigResource, Short: "amcfg",
		New: func() Object { return &v1beta1.AlertmanagerConfig{} }, Field: "alertmanagerConfig",
	}
)

// All lists all rows: workloads first, then the kinds that they select.
var All = []*Row{
	Prometheus, PrometheusAgent, Alertmanager, ThanosRuler,
	ServiceMonitor, PodMonitor, Probe, ScrapeConfig, PrometheusRule, AlertmanagerConfig, AlertmanagerConfigBeta,
}

// Versions are the versions of the group, each with the function that registers its kinds.
var Versions = map[schema.GroupVersion]func(*runtime.Scheme) error{
	v1.SchemeGroupVersion:       v1.AddToScheme,
	v1alpha1.SchemeGroupVersion: v1alpha1.AddToScheme,
	v1beta1.SchemeGroupVersion:  v1beta1.AddToScheme,
}

// Of returns the row of a kind in the version that the operator uses, or nil if the group
// does not have the kind.
func Of(kind string) *Row {
	return find(func(r *Row) bool { return r.Kind == kind })
}

// Word returns the row that a word refers to, as in kubectl ("servicemonitor", "smon",
// "servicemonitors.v1.monitoring.coreos.com"), or nil.
func Word(word string) *Row {
	word, rest, _ := strings.Cut(strings.ToLower(word), ".")
	return find(func(r *Row) bool {
		known := word == strings.ToLower(r.Kind) || word == r.Resource || word == r.Short
		return known && slices.Contains([]string{"", r.Group, r.Version, r.Version + "." + r.Group}, rest)
	})
}

func find(match func(*Row) bool) *Row {
	if i := slices.IndexFunc(All, match); i >= 0 {
		return All[i]
	}
	return nil
}

// IsWorkload reports whether the operator manages pods for objects of the kind.
func (r *Row) IsWorkload() bool { return r.Field == "" }

// GroupVersionResource returns the resource of the kind in URLs.
func (r *Row) GroupVersionResource() schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Resource)
}

// GroupResource returns the resource of the kind in RBAC rules.
func (r *Row) GroupResource() schema.GroupResource { return r.GroupVersionResource().GroupResource() }

// String returns the kind.
func (r *Row) String() string { return r.Kind }

// Or joins kinds in a human-readable list: "Prometheus, PrometheusAgent or ThanosRuler".
func Or(rows []*Row) string {
	var out strings.Builder
	for i, r := range rows {
		switch {
		case i > 0 && i == len(rows)-1:
			out.WriteString(" or ")
		case i > 0:
			out.WriteString(", ")
		}
		out.WriteString(r.Kind)
	}
	return out.String()
}
