package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
)

type schema = apiextensionsv1.JSONSchemaProps

// object is a Go type of the API: a struct, or a scalar type with its own validation.
type object struct {
	Type   reflect.Type
	Schema *schema
	Doc    string
	Kinds  map[string]bool // kinds that contain the type
	Paths  []string        // paths in the first kind
	Fields []field         // fields of a struct, sorted by name
}

// field is one field of a struct.
type field struct {
	Name     string
	Type     reflect.Type
	Schema   *schema
	Required bool
}

// model is the content of all pages.
type model struct {
	kinds    []*apiextensionsv1.CustomResourceDefinition
	roots    map[string]reflect.Type // "Probe/v1" → its Go type
	objects  map[reflect.Type]*object
	comments comments
}

// newModel walks the Go types together with the CRDs.
//
// Errors: the CRD has a field that the Go type lacks, or the comments cannot be read.
func newModel(source string) (*model, error) {
	docs, err := readComments(source)
	if err != nil {
		return nil, err
	}
	definitions, err := crds.Full("")
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	m := &model{definitions, map[string]reflect.Type{}, map[reflect.Type]*object{}, docs}
	for _, crd := range definitions {
		for _, v := range crd.Spec.Versions {
			id := crd.Spec.Names.Kind + "/" + v.Name
			root := scheme.AllKnownTypes()[k8sschema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}]
			m.roots[id] = root
			for _, part := range []string{"spec", "status"} {
				s, ok := v.Schema.OpenAPIV3Schema.Properties[part]
				if !ok {
					continue
				}
				if err := m.visit(fieldsOf(root)[part], &s, id, part); err != nil {
					return nil, fmt.Errorf("%s: %w", id, err)
				}
			}
		}
	}
	return m, nil
}

// visit adds the types at and below a path.
func (m *model) visit(t reflect.Type, s *schema, kind, at string) error {
	t, s, at = inner(t, s, at)
	if !ours(t) {
		return nil
	}
	o, known := m.objects[t]
	if !known {
		o = &object{Type: t, Schema: s, Kinds: map[string]bool{}, Doc: m.comments[key(t)]}
		m.objects[t] = o
	}
	if len(o.Kinds) == 0 || o.Kinds[kind] && len(o.Kinds) == 1 {
		o.Paths = append(o.Paths, at)
	}
	o.Kinds[kind] = true
	if t.Kind() != reflect.Struct {
		return nil
	}
	types := fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child, typ := s.Properties[name], types[name]
		if typ == nil {
			return fmt.Errorf("%s.%s: no such field in %s", at, name, t)
		}
		if !known {
			o.Fields = append(o.Fields, field{name, typ, &child, slices.Contains(s.Required, name)})
		}
		if err := m.visit(typ, &child, kind, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// inner unwraps pointers, lists and maps down to the element type.
func inner(t reflect.Type, s *schema, at string) (reflect.Type, *schema, string) {
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case ours(t):
			return t, s, at
		case t.Kind() == reflect.Slice && s.Items != nil:
			t, s, at = t.Elem(), s.Items.Schema, at+"[]"
		case t.Kind() == reflect.Map && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			t, s, at = t.Elem(), s.AdditionalProperties.Schema, at+".*"
		default:
			return t, s, at
		}
	}
}

// ours reports whether a type is defined by the API packages of this project.
func ours(t reflect.Type) bool {
	return strings.Contains(t.PkgPath(), "/operator/api/monitoring/")
}

func key(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// fieldsOf returns the fields of a struct by their JSON names, including those of embedded structs.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			out[name] = f.Type
			continue
		}
		for inner, typ := range fieldsOf(f.Type) {
			out[inner] = cmp.Or(out[inner], typ)
		}
	}
	return out
}
