package discovery

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Over returns the objects that a list would return, in a namespace ("" for all) and with selectors
// in the syntax of the API server, if the objects of o were applied on top of its current result,
// under.
//
// Errors: a selector cannot be parsed or uses an unsupported field.
func (o *Objects) Over(under *Objects, role, namespace, label, field string) (*Objects, error) {
	s := scope{selectors: []targets.Selector{{Role: role, Label: label, Field: field}}}
	if namespace != "" {
		s.namespaces = []string{namespace}
	}
	type key struct{ namespace, name string }
	keyOf := func(object Object) key { return key{object.GetNamespace(), object.GetName()} }
	there, ours := map[key]Object{}, map[key]bool{}
	for _, object := range under.byRole[role] {
		there[keyOf(object)] = object
	}
	all := &Objects{}
	for _, object := range o.byRole[role] {
		ours[keyOf(object)] = true
		all.add(role, running(object, there[keyOf(object)]))
	}
	selected, err := all.objects(role, s)
	if err != nil {
		return nil, err
	}
	out := &Objects{}
	for _, object := range under.byRole[role] {
		if !ours[keyOf(object)] {
			out.add(role, object)
		}
	}
	for _, object := range selected {
		out.add(role, object)
	}
	return out, nil
}

// Touched returns the namespaces in which the groups of a discovery change if the objects are
// applied, sorted; "" represents cluster-scoped objects. Nodes only matter to the role node.
func (o *Objects) Touched(sd *targets.KubernetesSD) (out []string) {
	for _, kind := range Kinds(sd) {
		for _, object := range o.byRole[kind.Role] {
			switch {
			case kind.Role == namespaceObjects:
				out = append(out, object.GetName())
			case !kind.ClusterScoped || kind.Role == sd.Role:
				out = append(out, object.GetNamespace())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// running returns an object with the state of the existing one, which may be nil, if it has none
// itself.
func running(object, there Object) Object {
	switch o := object.(type) {
	case *corev1.Pod:
		if t, is := there.(*corev1.Pod); is && o.Status.Phase == "" {
			out := o.DeepCopy()
			out.Status = t.Status
			out.Spec.NodeName = t.Spec.NodeName
			return out
		}
	case *corev1.Service:
		if t, is := there.(*corev1.Service); is && o.Spec.ClusterIP == "" {
			out := o.DeepCopy()
			out.Spec.ClusterIP = t.Spec.ClusterIP
			return out
		}
	}
	return object
}
