package discovery

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// A pod is the same after it was packed, also in the event of its deletion; informers find it as before, and it is small.
func TestPackedPods(t *testing.T) {
	typical := discoverytest.TypicalPod(7)
	pod := trimPod(&typical)
	held := Pack(pod)
	if diff := cmp.Diff(pod, Unpack(held)); diff != "" {
		t.Error(diff)
	}
	gone := Unpack(cache.DeletedFinalStateUnknown{Key: "demo/web-7", Obj: held})
	if diff := cmp.Diff(cache.DeletedFinalStateUnknown{Key: "demo/web-7", Obj: pod}, gone); diff != "" {
		t.Error(diff)
	}
	if n := len(held.(*packed).text); n > 1500 {
		t.Errorf("%d bytes", n)
	}
	about, err := apimeta.Accessor(held)
	if err != nil {
		t.Fatal(err)
	}
	if about.GetName() != pod.Name || about.GetNamespace() != pod.Namespace || about.GetUID() != pod.UID || about.GetResourceVersion() != pod.ResourceVersion {
		t.Errorf("%v", about)
	}
	for name, index := range Indexers(rolePod) {
		want, err1 := index(pod)
		got, err2 := index(held)
		if err1 != nil || err2 != nil || len(want) != 1 || !reflect.DeepEqual(got, want) {
			t.Errorf("index %s: %v, want %v; %v %v", name, got, want, err1, err2)
		}
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if Pack(service) != any(service) || Unpack(service) != any(service) || Unpack(nil) != nil {
		t.Error("others are changed")
	}
}
