package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// kind is a version of a kind.
type kind struct {
	gvk       k8sschema.GroupVersionKind
	plural    string
	schema    *apiextensionsv1.JSONSchemaProps
	generator *sample.Generator
}

func (k kind) String() string { return k.gvk.Kind + "/" + k.gvk.Version }

// kinds returns all versions of all kinds, in the order of the CRDs.
var kinds = sync.OnceValues(func() ([]kind, error) {
	all, err := crds.Full("1.0.0")
	if err != nil {
		return nil, err
	}
	var out []kind
	for _, crd := range all {
		for _, v := range crd.Spec.Versions {
			g, err := sample.New(crd, v.Name)
			if err != nil {
				return nil, err
			}
			gvk := k8sschema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
			out = append(out, kind{gvk, crd.Spec.Names.Plural, v.Schema.OpenAPIV3Schema, g})
		}
	}
	return out, nil
})

func allKinds(t testing.TB) []kind {
	t.Helper()
	all, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every field of a generated object keeps its value in a round trip through the Go types.
func FuzzRoundTrip(f *testing.F) {
	for i := range allKinds(f) {
		for seed := range uint64(4) {
			f.Add(uint8(i), seed, uint8(30*seed))
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, seed uint64, percent uint8) {
		all := allKinds(t)
		k := all[int(i)%len(all)]
		object, err := k.generator.Object(rand.New(rand.NewPCG(seed, 0)), float64(percent%101)/100)
		if err != nil {
			t.Fatal(err)
		}
		throughTypes(t, newScheme(t), k, object)
	})
}

// TestEveryFieldRoundTrips is like FuzzRoundTrip with objects that together set every
// field.
func TestEveryFieldRoundTrips(t *testing.T) {
	scheme := newScheme(t)
	for _, k := range allKinds(t) {
		t.Run(k.String(), func(t *testing.T) {
			objects, err := k.generator.Maximal(rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects {
				throughTypes(t, scheme, k, object)
			}
		})
	}
}

// throughTypes decodes an object strictly into its Go type, copies it, encodes it as YAML
// and compares the result; then it decodes the result.
func throughTypes(t *testing.T, scheme *runtime.Scheme, k kind, object map[string]any) {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := scheme.New(k.gvk)
	if err != nil {
		t.Fatal(err)
	}
	if err := manifest.Decode(raw, typed); err != nil {
		t.Fatalf("%s: strict reading: %v", k, err)
	}
	text, err := yaml.Marshal(typed.DeepCopyObject())
	if err != nil {
		t.Fatal(err)
	}
	back := map[string]any{}
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &back); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"spec", "status"} {
		if s, ok := k.schema.Properties[part]; ok {
			for _, problem := range changed(part, &s, object[part], back[part]) {
				t.Errorf("%s: %s", k, problem)
			}
		}
	}
	again, err := scheme.New(k.gvk)
	if err != nil {
		t.Fatal(err)
	}
	if err := manifest.Decode(text, again); err != nil {
		t.Errorf("%s: reading what was written: %v", k, err)
	}
	if second, err := yaml.Marshal(again); err != nil || string(second) != string(text) {
		t.Errorf("%s: the second trip gives something else (%v)", k, err)
	}
}

// changed returns the differences between two values of a field. Absent and zero are the
// same for a scalar, unless its default is something else. An empty object may be added
// but must not be lost, except in a status: an empty selector selects everything.
func changed(path string, s *apiextensionsv1.JSONSchemaProps, before, after any) []string {
	_, isObject := before.(map[string]any)
	switch {
	case zero(before) && zero(after) && (!isObject || after != nil || path == "status"):
		if before != nil && after == nil && s.Default != nil && !zeroDefault(s) {
			return []string{fmt.Sprintf("%s: lost %v, and the default is %s", path, before, s.Default.Raw)}
		}
		return nil
	case before == nil && equalQuantities(s, 0, after): // types of Kubernetes encode it
		return nil
	case before == nil:
		return []string{fmt.Sprintf("%s: appeared: %v", path, after)}
	case after == nil:
		return []string{fmt.Sprintf("%s: lost: %v", path, before)}
	}
	var out []string
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v became %v", path, before, after)}
		}
		for _, name := range union(a, b) {
			child := s.Properties[name]
			if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
				child = *s.AdditionalProperties.Schema
			}
			out = append(out, changed(path+"."+name, &child, b[name], a[name])...)
		}
		return out
	case []any:
		a, ok := after.([]any)
		if !ok || len(a) != len(b) {
			return []string{fmt.Sprintf("%s: %v became %v", path, before, after)}
		}
		for i := range b {
			out = append(out, changed(fmt.Sprintf("%s[%d]", path, i), s.Items.Schema, b[i], a[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(before, after) && !equalQuantities(s, before, after) {
		return []string{fmt.Sprintf("%s: %v became %v", path, before, after)}
	}
	return nil
}

// zero reports whether a value is empty.
func zero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			if !zero(child) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case nil, bool, int64, float64:
		return v == nil || reflect.ValueOf(v).IsZero()
	}
	return false
}

func zeroDefault(s *apiextensionsv1.JSONSchemaProps) bool {
	var v any
	return kjson.UnmarshalCaseSensitivePreserveInts(s.Default.Raw, &v) != nil || zero(v)
}

// equalQuantities reports whether two quantities are equal: 1000m is 1.
func equalQuantities(s *apiextensionsv1.JSONSchemaProps, before, after any) bool {
	if !s.XIntOrString || s.Pattern == "" {
		return false
	}
	a, errA := resource.ParseQuantity(fmt.Sprint(before))
	b, errB := resource.ParseQuantity(fmt.Sprint(after))
	return errA == nil && errB == nil && a.Cmp(b) == 0
}

func union(a, b map[string]any) []string {
	var out []string
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
