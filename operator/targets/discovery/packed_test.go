package discovery

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// A pod is the same after it was packed, also in the event of its deletion; informers find it as before, and it is small.
func TestPackedPods(t *testing.T) {
	typical := discoverytest.TypicalPod(7)
	pod := trimPod(&typical)
	held := Pack(&typical, nil)
	if diff := cmp.Diff(pod, Unpack(held)); diff != "" {
		t.Error(diff)
	}
	gone := Unpack(cache.DeletedFinalStateUnknown{Key: "demo/web-7", Obj: held})
	if diff := cmp.Diff(cache.DeletedFinalStateUnknown{Key: "demo/web-7", Obj: pod}, gone); diff != "" {
		t.Error(diff)
	}
	if n := len(held.(*packedPod).text); n > 1500 {
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
	if !reflect.DeepEqual(Pack(service, nil), service) || Unpack(service) != any(service) || Unpack(nil) != nil {
		t.Error("others are changed")
	}
}

// A pod that is packed from its message equals one that is decoded first, for each release.
func TestMessagesOfPods(t *testing.T) {
	for seed := range int64(20) {
		randomObjects(seed, func(o Object) {
			pod, is := o.(*corev1.Pod)
			if !is {
				return
			}
			raw, err := pod.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			sent := bytes.Clone(raw)
			direct := PackMessage("Pod", raw)
			if !bytes.Equal(raw, sent) {
				t.Error("the message was changed")
			}
			for _, release := range []*semver.Version{nil, semver.MustParse("2.53.0"), semver.MustParse("3.5.0")} {
				older := OlderThan(&targets.KubernetesSD{Role: roleEndpointSlice, Release: release})
				want, got := Pack(pod.DeepCopy(), older).(*packedPod), Pack(direct, older).(*packedPod)
				if diff := cmp.Diff(Unpack(want), Unpack(got), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("seed %d, release %v: (-decoded +direct)\n%s", seed, release, diff)
				}
				if want.namespace != got.namespace || want.name != got.name || want.version != got.version || want.uid != got.uid || want.node != got.node {
					t.Errorf("seed %d, release %v: %+v instead of %+v", seed, release, got, want)
				}
			}
		})
	}
	if PackMessage("Service", nil) != nil || PackMessage("Pod", nil) != nil || PackMessage("Pod", []byte{0xff}) != nil {
		t.Error("other messages are packed")
	}
}

// Pods whose message is no valid one keep their name.
func FuzzPackMessage(f *testing.F) {
	typical := discoverytest.TypicalPod(7)
	raw, err := typical.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	f.Fuzz(func(t *testing.T, raw []byte) {
		held := PackMessage("Pod", raw)
		if held == nil {
			return
		}
		if pod, is := Unpack(held).(*corev1.Pod); !is || pod.Name != held.(*packedPod).name {
			t.Errorf("%v instead of %q", pod, held.(*packedPod).name)
		}
	})
}

// The same pod is decoded once, and few large ones are held.
func TestRecentPods(t *testing.T) {
	var recent Recent
	pod := func(i, size int) any {
		typical := discoverytest.TypicalPod(i)
		typical.Annotations = map[string]string{"a": strings.Repeat("x", size)}
		return Pack(&typical, nil)
	}
	first := pod(1, 10)
	if recent.Unpack(first) != recent.Unpack(first) {
		t.Error("a pod is decoded twice")
	}
	for i := range 100 {
		recent.Unpack(pod(i, 100_000))
	}
	if len(recent.pods) > 11 {
		t.Errorf("%d large pods are held", len(recent.pods))
	}
	if recent.Unpack(nil) != nil {
		t.Error("nothing became something")
	}
}
