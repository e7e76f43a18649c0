package status

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestOwnFirst: objects of the namespace of the workload come first, so they are shown even if there are many others.
func TestOwnFirst(t *testing.T) {
	var objects []catalog.Object
	for _, namespace := range []string{"z", "a", "mine"} {
		for _, name := range []string{"b", "a"} {
			objects = append(objects, &v1.Probe{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
		}
	}
	var got []string
	for _, o := range ownFirst(objects, "mine") {
		got = append(got, o.GetNamespace()+"/"+o.GetName())
	}
	if want := []string{"mine/a", "mine/b", "a/a", "a/b", "z/a", "z/b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
