package catalog

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ref names an object.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// RefOf names an object of a kind.
func RefOf(kind string, o metav1.Object) Ref {
	return Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Key is the name without the kind.
func (r Ref) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// String is for people: "Prometheus monitoring/k8s".
func (r Ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }
