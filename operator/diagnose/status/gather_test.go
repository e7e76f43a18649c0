package status

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// namespaces is a cluster with two namespaces, of which the caller may read one, and without workloads.
type namespaces struct{ readers.Reader }

func (namespaces) List(context.Context, readers.Query) ([]readers.Object, error) { return nil, nil }

func (namespaces) Get(_ context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	switch key.Name {
	case "demo":
		return &corev1.Namespace{}, nil
	case "other":
		return nil, apierrors.NewForbidden(of.GroupResource(), key.Name, errors.New("not allowed"))
	}
	return nil, apierrors.NewNotFound(of.GroupResource(), key.Name)
}

// A misspelled namespace is not one without workloads.
func TestNamespaceWithoutWorkloads(t *testing.T) {
	c := Cluster{Reader: namespaces{}, Setups: []engine.Setup{{Kind: &engine.Kind{Row: catalog.Prometheus}}}}
	for namespace, want := range map[string]string{
		"": "", "demo": "", "other": "",
		"nope": "namespace nope does not exist in the cluster",
	} {
		got := ""
		facts, err := c.Gather(t.Context(), Subject{Name: types.NamespacedName{Namespace: namespace}})
		if err != nil {
			got = err.Error()
		}
		if got != want || len(facts) > 0 {
			t.Errorf("namespace %q: %v, error %q, want %q", namespace, facts, got, want)
		}
	}
}
