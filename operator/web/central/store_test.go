package central

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

func TestConfigMap(t *testing.T) {
	kube := fake.NewClientset()
	kube.PrependReactor("create", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		a.(clienttesting.CreateAction).GetObject().(*corev1.ConfigMap).ResourceVersion = "1" // as the API server
		return false, nil, nil
	})
	store := func() *ConfigMap {
		return &ConfigMap{Writer: apply.Webhooks{Kube: kube}, Namespace: "firekeeper", Name: "shards"}
	}
	first := store()
	if all, err := first.Read(t.Context()); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	want := scaling.Document{"Prometheus/a/b": {Shards: 3, Target: 2, Steps: []scaling.Step{{At: time.Now().UTC().Truncate(time.Second), From: 3, To: 2, Why: "…"}}}}
	for range 2 {
		if err := first.Write(t.Context(), want); err != nil {
			t.Fatal(err)
		}
	}
	second := store()
	if all, err := second.Read(t.Context()); err != nil || !cmp.Equal(all, want) {
		t.Error(all, err)
	}
	next := scaling.Document{"Prometheus/a/b": {Shards: 2, Target: 2}}
	if err := second.Write(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if err := first.Write(t.Context(), want); err == nil || !strings.Contains(err.Error(), "ConfigMap firekeeper/shards was changed by another") {
		t.Error(err)
	}
	if all, err := first.Read(t.Context()); err != nil || !cmp.Equal(all, next) {
		t.Error(all, err)
	}
}

func TestConfigMapErrors(t *testing.T) {
	kube := fake.NewClientset()
	c := &ConfigMap{Writer: apply.Webhooks{Kube: kube}, Namespace: "firekeeper", Name: "shards"}
	if err := c.Write(t.Context(), scaling.Document{"Prometheus/a/b": {Shards: 1}}); err != nil {
		t.Fatal(err)
	}
	object, err := kube.CoreV1().ConfigMaps("firekeeper").Get(t.Context(), "shards", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"[": "key shards.json: no valid numbers of shards: ", strings.Repeat("a", scaling.MaxBytes+1): "has 983041 bytes, more than 983040"} {
		object.Data, object.BinaryData = map[string]string{scaling.Key: text}, map[string][]byte{"more": {1}}
		object.ResourceVersion = "1" // as the API server
		if _, err := kube.CoreV1().ConfigMaps("firekeeper").Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(t.Context()); !errors.Is(err, scaling.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		replaced := scaling.Document{"Prometheus/a/b": {Shards: 2}}
		if err := c.Write(t.Context(), replaced); err != nil {
			t.Fatal(err)
		}
		if all, err := c.Read(t.Context()); err != nil || !cmp.Equal(all, replaced) {
			t.Errorf("after it was replaced: %v, %v", all, err)
		}
		if object, err = kube.CoreV1().ConfigMaps("firekeeper").Get(t.Context(), "shards", metav1.GetOptions{}); err != nil || len(object.BinaryData) > 0 {
			t.Errorf("%v, %v", object, err)
		}
	}
	kube.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	if _, err := c.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "read ConfigMap firekeeper/shards: forbidden") {
		t.Error(err)
	}
}
