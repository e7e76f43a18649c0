package budget

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
)

// Error reports the limit that an object exceeds, and where.
type Error struct {
	Kind  string
	Field string // "spec.endpoints"; empty for the whole object
	What  string // "elements", "bytes", "bytes in memory"
	Limit int
}

// Error implements error. The text names the field, the limit and the kind.
func (e *Error) Error() string {
	field, reason := e.Located()
	if field == "" {
		return reason
	}
	return field + ": " + reason
}

// Located returns field and reason.
func (e *Error) Located() (field, reason string) {
	reason = fmt.Sprintf("has more than %d %s, the limit of one %s", e.Limit, e.What, e.Kind)
	if e.Field == "" {
		reason = "the object " + reason
	}
	return e.Field, reason
}

// kinds maps each kind to the types it is decoded to, one for each distinct schema of its versions.
var kinds = map[string][]reflect.Type{
	v1.ServiceMonitorKind:           {reflect.TypeFor[v1.ServiceMonitor]()},
	v1.PodMonitorKind:               {reflect.TypeFor[v1.PodMonitor]()},
	v1.ProbeKind:                    {reflect.TypeFor[v1.Probe]()},
	v1.PrometheusRuleKind:           {reflect.TypeFor[v1.PrometheusRule]()},
	v1.PrometheusKind:               {reflect.TypeFor[v1.Prometheus]()},
	v1.AlertmanagerKind:             {reflect.TypeFor[v1.Alertmanager]()},
	v1.ThanosRulerKind:              {reflect.TypeFor[v1.ThanosRuler]()},
	v1alpha1.PrometheusAgentKind:    {reflect.TypeFor[v1alpha1.PrometheusAgent]()},
	v1alpha1.ScrapeConfigKind:       {reflect.TypeFor[v1alpha1.ScrapeConfig]()},
	v1alpha1.AlertmanagerConfigKind: {reflect.TypeFor[v1alpha1.AlertmanagerConfig](), reflect.TypeFor[v1beta1.AlertmanagerConfig]()},
}

// counted maps element types to the maximum number of such elements in all lists of one object.
var counted = map[reflect.Type]int{
	reflect.TypeFor[v1.Endpoint]():           Endpoints,
	reflect.TypeFor[v1.PodMetricsEndpoint](): Endpoints,
	reflect.TypeFor[v1.RelabelConfig]():      RelabelSteps,
	reflect.TypeFor[v1.RuleGroup]():          Groups,
	reflect.TypeFor[v1.Rule]():               Rules,
	reflect.TypeFor[v1alpha1.Receiver]():     Receivers,
	reflect.TypeFor[v1beta1.Receiver]():      Receivers,
	reflect.TypeFor[corev1.Container]():      Containers,
	reflect.TypeFor[corev1.EnvVar]():         ContainerItems,
	reflect.TypeFor[corev1.ContainerPort]():  ContainerItems,
	reflect.TypeFor[corev1.VolumeMount]():    ContainerItems,
	reflect.TypeFor[corev1.VolumeDevice]():   ContainerItems,
}

// mostGrowth is an upper bound for the memory of a decoded object per byte of JSON: an element of three bytes takes
// some hundred. Objects that are too small to exceed the limit are not scanned.
const mostGrowth = 512

// Check rejects an object that is too large to be decoded. It scans the text once without allocating values. Invalid
// JSON is left to the decoder.
//
// kind: "ServiceMonitor"; for other kinds, only the size is limited. raw: the object as JSON. Errors: *[Error].
func Check(kind string, raw []byte) error {
	return CheckAs(kind, raw, kinds[kind]...)
}

// CheckAs is like [Check], for an object that is decoded to one of the given types.
func CheckAs(kind string, raw []byte, types ...reflect.Type) error {
	if len(raw) > StoredBytes {
		return &Error{Kind: kind, What: "bytes", Limit: StoredBytes}
	}
	if len(raw)*mostGrowth <= DecodedBytes {
		return nil
	}
	for _, t := range types {
		if _, err := scan(kind, "", raw, t); err != nil {
			return err
		}
	}
	return nil
}

// Spec returns the approximate memory in bytes of the decoded spec of an object, without its struct, which is part of that
// of the object. It scans the text once without allocating values.
//
// kind: as in [Check]. raw: the spec as JSON. Errors: *[Error] if it is too large to be decoded.
func Spec(kind string, raw []byte) (memory int, err error) {
	if len(raw) > StoredBytes {
		return 0, &Error{Kind: kind, What: "bytes", Limit: StoredBytes}
	}
	for _, t := range kinds[kind] {
		spec, _ := t.FieldByName("Spec")
		n, err := scan(kind, ".spec", raw, spec.Type)
		if err != nil {
			return 0, err
		}
		memory = max(memory, n)
	}
	return memory, nil
}

// scan returns the approximate memory of a value of a type, whose path starts with a dot.
func scan(kind, path string, raw []byte, t reflect.Type) (memory int, err error) {
	s := scanner{text: raw, kind: kind, field: []byte(path)}
	if s.value(t); s.err != nil {
		return 0, s.err
	}
	return s.memory, nil
}

// Elements rejects a list with n elements if that is more than limit; field is its path.
//
// Errors: *[Error].
func Elements(kind, field string, n, limit int) error {
	if n > limit {
		return &Error{Kind: kind, Field: field, What: "elements", Limit: limit}
	}
	return nil
}
