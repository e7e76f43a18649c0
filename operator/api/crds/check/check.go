// Package check validates an object like an API server does before it stores one: it sets the defaults and reports
// fields and values that the CRD does not allow. The messages match those of the API server.
//
//	c, err := check.New(crd, "v1")
//	problems := c.Object(object) // spec.endpoints[0].interval: Invalid value: ...
//
// Creating a checker takes some milliseconds, checking a valid object some microseconds, and one with errors a
// few milliseconds. Checks that need the cluster (existing
// names, quotas, webhooks) and checks of the metadata are not included.
package check

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Checker checks objects of one version of one kind. It is safe for concurrent use.
type Checker struct {
	structural *structuralschema.Structural
	quick      *quick
	// What only some objects need is created on first use.
	schema func() *node
	rules  func() *cel.Validator // nil if there are none
}

// New returns a checker for a version of a CRD.
//
// Errors: a version that the CRD does not have, a schema that an API server would reject.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string) (*Checker, error) {
	for _, v := range crd.Spec.Versions {
		if v.Name != version || v.Schema == nil {
			continue
		}
		internal := &apiextensions.JSONSchemaProps{}
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil)
		if err != nil {
			return nil, fmt.Errorf("schema of %s %s: %w", crd.Name, version, err)
		}
		structural, err := structuralschema.NewStructural(internal)
		if err != nil {
			return nil, fmt.Errorf("schema of %s %s: %w", crd.Name, version, err)
		}
		schema := &spec.Schema{}
		if err := validation.ConvertJSONSchemaPropsWithPostProcess(internal, schema, validation.StripUnsupportedFormatsPostProcessorForVersion(environment.DefaultCompatibilityVersion())); err != nil {
			return nil, fmt.Errorf("schema of %s %s: %w", crd.Name, version, err)
		}
		return &Checker{
			structural: structural, quick: newQuick(schema),
			schema: sync.OnceValue(func() *node { return newNode(schema) }),
			rules:  sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structural, true, celconfig.PerCallLimit) }),
		}, nil
	}
	return nil, fmt.Errorf("CRD %s has no version %s", crd.Name, version)
}

// Default sets the defaults in place. As in the API server, null counts as unset if the field is not nullable.
func (c *Checker) Default(object map[string]any) {
	defaulting.PruneNonNullableNullsWithoutDefaults(object, c.structural)
	defaulting.Default(object, c.structural)
}

// Object sets the defaults and returns the errors, about [budget.DocumentFaults] at most. Numbers must be int64 or
// float64.
func (c *Checker) Object(object map[string]any) field.ErrorList {
	c.Default(object)
	unknown := pruning.PruneWithOptions(copied(object), c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	var out field.ErrorList
	for _, path := range unknown {
		out = append(out, field.Invalid(field.NewPath(path), nil, "unknown field"))
	}
	return append(out, c.values(object, len(out) == 0)...)
}

// Values is like Object, but does not report unknown fields.
func (c *Checker) Values(object map[string]any) field.ErrorList {
	c.Default(object)
	return c.Defaulted(object)
}

// Defaulted is like Values, for an object with the defaults.
func (c *Checker) Defaulted(object map[string]any) field.ErrorList { return c.values(object, true) }

func (c *Checker) values(object map[string]any, rules bool) field.ErrorList {
	var out field.ErrorList
	if !c.quick.valid(object) {
		out = c.schema().validate(object, together)
	}
	out = append(out, listtype.ValidateListSetsAndMaps(nil, c.structural, object)...)
	if !rules || len(out) > 0 {
		return out
	}
	if found := c.rules(); found != nil {
		problems, _ := found.Validate(context.Background(), nil, c.structural, object, nil, celconfig.RuntimeCELCostBudget)
		out = append(out, problems...)
	}
	return out
}

// copied returns a deep copy, because pruning modifies its argument.
func copied(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for key, child := range v {
		out[key] = copiedValue(child)
	}
	return out
}

func copiedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return copied(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copiedValue(v[i])
		}
		return out
	default:
		return v
	}
}
