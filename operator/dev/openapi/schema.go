package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schemas collects the schemas of Go types. Structs become components, named by package and type.
type schemas struct {
	all      openapi3.Schemas
	names    map[reflect.Type]string
	comments *comments
}

func newSchemas(c *comments) *schemas {
	return &schemas{openapi3.Schemas{}, map[reflect.Type]string{}, c}
}

// of returns the schema of a type as encoded by encoding/json.
func (s *schemas) of(t reflect.Type) *openapi3.SchemaRef {
	switch {
	case t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[metav1.Time]():
		return value(openapi3.NewDateTimeSchema())
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		panic(fmt.Sprintf("%s writes its own JSON: say here which", t))
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.object(t)
	case reflect.Slice, reflect.Array:
		out := openapi3.NewArraySchema()
		out.Items = s.of(t.Elem())
		return value(out)
	case reflect.Map:
		out := openapi3.NewObjectSchema()
		out.AdditionalProperties.Schema = s.of(t.Elem())
		return value(out)
	case reflect.String:
		return value(openapi3.NewStringSchema())
	case reflect.Bool:
		return value(openapi3.NewBoolSchema())
	case reflect.Float32, reflect.Float64:
		return value(openapi3.NewFloat64Schema())
	case reflect.Interface:
		return value(openapi3.NewSchema())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return value(openapi3.NewIntegerSchema())
	}
	panic(fmt.Sprintf("%s has no schema", t))
}

func value(s *openapi3.Schema) *openapi3.SchemaRef { return openapi3.NewSchemaRef("", s) }

// object returns a reference to the component of a struct and adds the component if it is missing.
func (s *schemas) object(t reflect.Type) *openapi3.SchemaRef {
	name, known := s.names[t]
	if !known {
		name = nameOf(t)
		if _, taken := s.all[name]; taken {
			panic("two types are called " + name)
		}
		out := openapi3.NewObjectSchema() // additional properties are allowed: clients ignore unknown fields
		out.Description = s.comments.of(t, "")
		s.names[t], s.all[name] = name, value(out) // registered before its fields, because the type can be recursive
		s.fields(out, t)
	}
	return openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
}

// nameOf returns the component name of a struct, for example "insight.Targets".
func nameOf(t reflect.Type) string {
	if t.Name() == "" {
		panic(fmt.Sprintf("%s has no name", t))
	}
	return path.Base(t.PkgPath()) + "." + strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
}

// fields adds the fields of a struct, including those of embedded structs.
func (s *schemas) fields(to *openapi3.Schema, t reflect.Type) {
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "":
			s.fields(to, f.Type)
			continue
		case name == "":
			name = f.Name
		}
		ref := s.of(f.Type)
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if doc := s.comments.of(t, f.Name); ref.Value != nil {
			ref.Value.Description = doc
		} else if doc != "" { // a reference cannot have a description next to it
			ref = value(&openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}, Description: doc})
		}
		if !optional {
			to.Required = append(to.Required, name)
			switch f.Type.Kind() {
			case reflect.Slice, reflect.Map, reflect.Pointer:
				ref = nullable(ref)
			}
		}
		to.WithPropertyRef(name, ref)
	}
}

// nullable returns the schema with null allowed, because encoding/json encodes nil slices, maps and pointers as null.
func nullable(ref *openapi3.SchemaRef) *openapi3.SchemaRef {
	if ref.Value == nil {
		ref = value(&openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}})
	}
	ref.Value.Nullable = true
	return ref
}

// fieldsOf iterates over the fields that encoding/json encodes.
func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if (f.IsExported() || f.Anonymous) && !yield(f) {
				return
			}
		}
	}
}
