//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Object is a built-in Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are the objects of a cluster from which targets are discovered. The zero value is empty.
type Objects struct{ byRole map[string][]Object }

// Add adds a trimmed copy of an object and reports whether discovery uses its kind. The object is
// not changed.
func (o *Objects) Add(object Object) bool {
	role, trimmed := trim(object)
	if role == "" {
		return false
	}
	o.add(role, trimmed)
	return true
}

// Take adds an object that [Shorten] has trimmed and that is immutable from now on. It reports whether discovery uses
// its kind.
func (o *Objects) Take(object Object) bool {
	role := roleOf(object)
	if role == "" {
		return false
	}
	o.add(role, object)
	return true
}

// Of returns the objects of a list that discovery uses.
func Of[O Object](all []O) *Objects {
	out := &Objects{}
	for _, o := range all {
		out.Add(o)
	}
	return out
}

// Join adds the objects of other; both share them afterwards.
func (o *Objects) Join(other *Objects) {
	for role, objects := range other.byRole {
		for _, object := range objects {
			o.add(role, object)
		}
	}
}

// Len returns the number of objects.
func (o *Objects) Len() (n int) {
	for _, objects := range o.byRole {
		n += len(objects)
	}
	return n
}

func (o *Objects) add(role string, object Object) {
	if o.byRole == nil {
		o.byRole = map[string][]Object{}
	}
	o.byRole[role] = append(o.byRole[role], object)
}

// roleOf returns the role that discovers objects of the kind; "" for other kinds.
func roleOf(object Object) string {
	switch object.(type) {
	case *corev1.Endpoints:
		return roleEndpoints
	case *discoveryv1.EndpointSlice:
		return roleEndpointSlice
	case *corev1.Pod, *packedPod:
		return rolePod
	case *corev1.Service:
		return roleService
	case *corev1.Node:
		return roleNode
	case *networkingv1.Ingress:
		return roleIngress
	case *corev1.Namespace:
		return namespaceObjects
	}
	return ""
}

// scope selects the objects that a discovery reads.
type scope struct {
	namespaces []string // all if empty
	selectors  []targets.Selector
}

// Namespaces returns the namespaces of a discovery, sorted; nil for all namespaces. own is the
// namespace of the workload.
func Namespaces(sd *targets.KubernetesSD, own string) []string {
	out := slices.Clone(sd.Namespaces.Names)
	if sd.Namespaces.Own {
		out = append(out, own)
	}
	if slices.Contains(out, "") { // means all, as in the API
		return nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func scopeOf(sd *targets.KubernetesSD, own string) scope {
	return scope{namespaces: Namespaces(sd, own), selectors: sd.Selectors}
}

// objects returns the objects of a role that the discovery selects.
//
// Errors: a selector cannot be parsed or uses an unsupported field.
func (o *Objects) objects(role string, s scope) (out []Object, err error) {
	matches, err := s.matcher(role)
	if err != nil {
		return nil, err
	}
	for _, object := range o.byRole[role] {
		if object.GetNamespace() != "" && len(s.namespaces) > 0 && !slices.Contains(s.namespaces, object.GetNamespace()) {
			continue
		}
		ok, err := matches(object)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, object)
		}
	}
	return out, nil
}

// matcher returns a function that applies the selectors of a role.
func (s scope) matcher(role string) (func(Object) (bool, error), error) {
	label, required := labels.Everything(), fields.Requirements(nil)
	for _, sel := range s.selectors {
		if sel.Role != role {
			continue
		}
		l, err := labels.Parse(sel.Label)
		if err != nil {
			return nil, fmt.Errorf("label selector of role %s: %w", role, err)
		}
		f, err := fields.ParseSelector(sel.Field)
		if err != nil {
			return nil, fmt.Errorf("field selector of role %s: %w", role, err)
		}
		label, required = l, f.Requirements()
	}
	return func(object Object) (bool, error) {
		if label.Empty() && len(required) == 0 {
			return true, nil
		}
		object = Unpack(object).(Object)
		if !label.Matches(labels.Set(object.GetLabels())) {
			return false, nil
		}
		for _, r := range required {
			value, ok := fieldOf(object, r.Field)
			if !ok {
				return false, unknownField(role, r.Field)
			}
			if !meets(r, value) {
				return false, nil
			}
		}
		return true, nil
	}, nil
}

func unknownField(role, field string) error {
	return fmt.Errorf("field selector of role %s: field %q is not known", role, field)
}

// Matcher returns a function that reports whether the selectors of a discovery select an object of
// a role; nil if they select all.
//
// Errors: a selector cannot be parsed or uses an unsupported field.
func Matcher(sd *targets.KubernetesSD, role string) (func(Object) bool, error) {
	if !slices.ContainsFunc(sd.Selectors, func(s targets.Selector) bool { return s.Role == role }) {
		return nil, nil
	}
	all, err := scope{selectors: sd.Selectors}.matcher(role)
	if err != nil {
		return nil, err
	}
	for _, s := range sd.Selectors {
		f, err := fields.ParseSelector(s.Field)
		if err != nil || s.Role != role {
			continue
		}
		for _, r := range f.Requirements() {
			if _, ok := fieldOf(End(role), r.Field); !ok {
				return nil, unknownField(role, r.Field)
			}
		}
	}
	return func(object Object) bool {
		ok, _ := all(object)
		return ok
	}, nil
}

// Selectors returns the selectors of a discovery for objects of a role in the syntax of the API
// server; empty for all objects.
//
// Errors: a selector cannot be parsed.
func Selectors(sd *targets.KubernetesSD, role string) (label, field string, err error) {
	for _, sel := range sd.Selectors {
		if sel.Role != role {
			continue
		}
		if _, err := labels.Parse(sel.Label); err != nil {
			return "", "", fmt.Errorf("label selector of role %s: %w", role, err)
		}
		f, err := fields.ParseSelector(sel.Field)
		if err != nil {
			return "", "", fmt.Errorf("field selector of role %s: %w", role, err)
		}
		var terms []fields.Selector
		for _, r := range f.Requirements() {
			switch {
			case isVariable(r):
				terms = append(terms, fields.OneTermNotEqualSelector(r.Field, ""))
			case r.Operator == selection.NotEquals:
				terms = append(terms, fields.OneTermNotEqualSelector(r.Field, r.Value))
			default:
				terms = append(terms, fields.OneTermEqualSelector(r.Field, r.Value))
			}
		}
		label, field = sel.Label, fields.AndSelectors(terms...).String()
	}
	return label, field, nil
}

// isVariable reports whether the value is a variable that is replaced in the pod.
func isVariable(r fields.Requirement) bool { return strings.HasPrefix(r.Value, "$(") }

// meets compares a field. A variable that is replaced by the node name matches every node, because
// the pods of a DaemonSet run on all of them.
func meets(r fields.Requirement, value string) bool {
	if isVariable(r) {
		return value != ""
	}
	return (value == r.Value) == (r.Operator != selection.NotEquals)
}

// fieldOf returns a field by which the API server can select objects of the kind.
func fieldOf(object Object, field string) (value string, ok bool) {
	switch field {
	case "metadata.name":
		return object.GetName(), true
	case "metadata.namespace":
		return object.GetNamespace(), true
	}
	switch o := object.(type) {
	case *corev1.Pod:
		value, ok = map[string]string{
			"spec.nodeName": o.Spec.NodeName, "spec.restartPolicy": string(o.Spec.RestartPolicy), "spec.schedulerName": o.Spec.SchedulerName,
			"spec.serviceAccountName": o.Spec.ServiceAccountName, "spec.hostNetwork": fmt.Sprint(o.Spec.HostNetwork),
			"status.phase": string(o.Status.Phase), "status.podIP": o.Status.PodIP, "status.nominatedNodeName": o.Status.NominatedNodeName,
		}[field]
	case *corev1.Node:
		value, ok = map[string]string{"spec.unschedulable": fmt.Sprint(o.Spec.Unschedulable)}[field]
	case *corev1.Service:
		value, ok = map[string]string{"spec.clusterIP": o.Spec.ClusterIP, "spec.type": string(o.Spec.Type)}[field]
	}
	return value, ok
}
