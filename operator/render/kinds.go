package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// decoder reads an object and keeps it.
type decoder func(*Objects, []byte) error

type decoders map[schema.GroupVersionKind]decoder

// rendered are the kinds of the group that rendering looks at.
var rendered = table(
	kind(v1.GroupVersionKind(v1.PrometheusKind), func(o *Objects, p *v1.Prometheus) { o.Prometheuses = append(o.Prometheuses, p) }),
	kind(v1alpha1.GroupVersionKind(v1alpha1.PrometheusAgentKind), func(o *Objects, a *v1alpha1.PrometheusAgent) { o.PrometheusAgents = append(o.PrometheusAgents, a) }),
	kind(v1.GroupVersionKind(v1.ServiceMonitorKind), func(o *Objects, m *v1.ServiceMonitor) { o.ServiceMonitors = append(o.ServiceMonitors, m) }),
	kind(v1.GroupVersionKind(v1.PodMonitorKind), func(o *Objects, m *v1.PodMonitor) { o.PodMonitors = append(o.PodMonitors, m) }),
	kind(v1.GroupVersionKind(v1.ProbeKind), func(o *Objects, p *v1.Probe) { o.Probes = append(o.Probes, p) }),
	kind(v1alpha1.GroupVersionKind(v1alpha1.ScrapeConfigKind), func(o *Objects, s *v1alpha1.ScrapeConfig) { o.ScrapeConfigs = append(o.ScrapeConfigs, s) }),
	kind(v1.GroupVersionKind(v1.PrometheusRuleKind), func(o *Objects, r *v1.PrometheusRule) { o.PrometheusRules = append(o.PrometheusRules, r) }),
)

// ofKubernetes are the kinds of Kubernetes' own that rendering looks at.
var ofKubernetes = decoders{
	corev1.SchemeGroupVersion.WithKind("Secret"):    (*Objects).secret,
	corev1.SchemeGroupVersion.WithKind("ConfigMap"): (*Objects).configMap,
	corev1.SchemeGroupVersion.WithKind("Namespace"): (*Objects).namespace,
}

// linted are the kinds of the group that rendering does not look at; linting
// reads them and no more.
var linted = table(
	kind(v1.GroupVersionKind("Alertmanager"), func(*Objects, *v1.Alertmanager) {}),
	kind(v1.GroupVersionKind("ThanosRuler"), func(*Objects, *v1.ThanosRuler) {}),
	kind(v1alpha1.GroupVersionKind(v1alpha1.AlertmanagerConfigKind), func(*Objects, *v1alpha1.AlertmanagerConfig) {}),
	kind(v1beta1.SchemeGroupVersion.WithKind(v1alpha1.AlertmanagerConfigKind), func(*Objects, *v1beta1.AlertmanagerConfig) {}),
)

// tables are all of them.
var tables = []decoders{rendered, ofKubernetes, linted}

type entry struct {
	kind schema.GroupVersionKind
	read decoder
}

func table(entries ...entry) decoders {
	out := decoders{}
	for _, e := range entries {
		out[e.kind] = e.read
	}
	return out
}

// kind reads objects as the API server would and hands them on.
func kind[T any, P interface {
	*T
	metav1.Object
}](kind schema.GroupVersionKind, keep func(*Objects, P)) entry {
	return entry{kind, func(o *Objects, raw []byte) error {
		object := P(new(T))
		if err := o.schemas.read(kind, raw, object, o.validate); err != nil {
			return err
		}
		keep(o, object)
		return nil
	}}
}

// decoder returns what reads objects of a kind. Somebody who takes faults also
// wants those of kinds that are not rendered.
func (o *Objects) decoder(kind schema.GroupVersionKind) (decoder, bool) {
	for _, of := range tables {
		if dec, known := of[kind]; known {
			_, unseen := linted[kind]
			return dec, !unseen || o.onFault != nil
		}
	}
	return nil, false
}

// ours reports whether the group has a kind.
func ours(kind schema.GroupVersionKind) bool {
	return rendered[kind] != nil || linted[kind] != nil
}

// isList reports whether a kind is a list of objects of ours, or of anything.
func isList(kind schema.GroupVersionKind) bool {
	item, list := strings.CutSuffix(kind.Kind, "List")
	return list && (item == "" && kind.Group == "" || ours(kind.GroupVersion().WithKind(item)))
}

// foreign are API groups of others that look like a misspelling of ours.
var foreign = []string{"azmonitoring.coreos.com", "monitoring.rhobs"}

// misnamed returns an error for an object that is meant to be of our group and
// that no API server would take for one: a kind or version that the group does
// not have, or one of our kinds in a group that is none or almost ours.
func misnamed(kind schema.GroupVersionKind) error {
	if ours(kind) {
		return nil
	}
	const group = v1.GroupName
	kinds := map[string][]string{}
	for _, of := range []decoders{rendered, linted} {
		for k := range of {
			kinds[k.Kind] = append(kinds[k.Kind], k.GroupVersion().String())
		}
	}
	versions := kinds[kind.Kind]
	slices.Sort(versions)
	meant := kind.Group == group || versions != nil && !slices.Contains(foreign, kind.Group) &&
		(kind.Group == "" || manifest.Similar(kind.Group, []string{group}) != "")
	if !meant {
		return nil
	}
	reason := fmt.Sprintf("there is no kind %s in %s", kind.Kind, kind.GroupVersion())
	if kind.Version == "" {
		reason = "is missing"
	}
	if versions != nil {
		return &manifest.FieldError{Path: "apiVersion", Reason: reason, Suggestion: strings.Join(versions, `" or "`)}
	}
	return &manifest.FieldError{Path: "kind", Reason: reason, Suggestion: manifest.Similar(kind.Kind, slices.Sorted(maps.Keys(kinds)))}
}
