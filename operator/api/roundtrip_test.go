package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	monitoringv1alpha1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	monitoringv1beta1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
)

// newScheme returns a scheme with all kinds of the group.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		monitoringv1.AddToScheme, monitoringv1alpha1.AddToScheme, monitoringv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// The manifests of a widely used stack survive a round trip through the types: they
// decode strictly, and the encoded objects have all their values.
func TestRealManifests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedFile(t, "real/kube-prometheus"), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	scheme := newScheme(t)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	seen := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), "apiVersion: "+monitoringv1.GroupName) {
			continue
		}
		seen++
		t.Run(filepath.Base(file), func(t *testing.T) {
			roundTrip(t, decoder, raw)
		})
	}
	if seen == 0 {
		t.Error("no manifest of the group found")
	}
}

// TestRoundTrip covers cases that the real manifests lack: fields whose zero value
// differs from an absent field, quantities, free-form children.
func TestRoundTrip(t *testing.T) {
	decoder := serializer.NewCodecFactory(newScheme(t), serializer.EnableStrict).UniversalDeserializer()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			roundTrip(t, decoder, raw)
		})
	}
}

// A misspelled field is an error of the strict decoder and is not silently dropped.
func TestUnknownField(t *testing.T) {
	decoder := serializer.NewCodecFactory(newScheme(t), serializer.EnableStrict).UniversalDeserializer()
	raw := "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nspec: {selector: {}, endpoints: [{intervall: 1s}]}\n"
	_, _, err := decoder.Decode([]byte(raw), nil, nil)
	if err == nil || !strings.Contains(err.Error(), `"spec.endpoints[0].intervall"`) {
		t.Errorf("error %v does not name the field", err)
	}
}

// roundTrip decodes a manifest, encodes the result and compares.
func roundTrip(t *testing.T, decoder runtime.Decoder, raw []byte) {
	t.Helper()
	obj, _, err := decoder.Decode(raw, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(obj.DeepCopyObject())
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if err := yaml.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	dropEmptyLists(want)
	if diff := cmp.Diff(want, keepOnly(got, want)); diff != "" {
		t.Errorf("lost or changed (-manifest +encoded):\n%s", diff)
	}
}

// dropEmptyLists removes values that are equivalent to an absent field: an empty list,
// and an empty map of strings. Other empty objects are kept, because an empty selector
// selects everything.
func dropEmptyLists(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			l, isList := child.([]any)
			m, isMap := child.(map[string]any)
			if isList && len(l) == 0 || isMap && len(m) == 0 && key == "externalLabels" {
				delete(v, key)
				continue
			}
			dropEmptyLists(child)
		}
	case []any:
		for _, child := range v {
			dropEmptyLists(child)
		}
	}
}

// keepOnly removes values from got that the encoder adds and the manifest does not have:
// empty objects of struct fields that are not pointers.
func keepOnly(got, want any) any {
	switch g := got.(type) {
	case map[string]any:
		w, _ := want.(map[string]any)
		for key, v := range g {
			child, wanted := w[key]
			if m, isMap := v.(map[string]any); isMap && !wanted && len(m) == 0 {
				delete(g, key)
				continue
			}
			g[key] = keepOnly(v, child)
			if m, isMap := g[key].(map[string]any); isMap && !wanted && len(m) == 0 {
				delete(g, key)
			}
		}
	case []any:
		w, _ := want.([]any)
		for i := range g {
			if i < len(w) {
				g[i] = keepOnly(g[i], w[i])
			}
		}
	}
	return got
}
