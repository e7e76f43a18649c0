package catalog

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ref identifies an object by kind, namespace and name.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// RefOf returns the reference to an object.
func RefOf(kind string, o metav1.Object) Ref {
	return Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// KeyOf returns the namespace and the name of an object.
func KeyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Key returns the namespace and the name.
func (r Ref) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// String returns a human-readable form: "Prometheus monitoring/k8s".
func (r Ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }
