package render

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/operator/crds"
)

// defaults are the schemas of the kinds by resource, in the version that is stored, for filling in what the
// API server fills in when it stores an object.
type defaults map[string]*apiextensionsv1.JSONSchemaProps

func loadDefaults() (defaults, error) {
	all, err := crds.Standard("")
	if err != nil {
		return nil, err
	}
	d := defaults{}
	for _, crd := range all {
		for _, version := range crd.Spec.Versions {
			if version.Storage && version.Schema != nil {
				d[crd.Spec.Names.Plural] = version.Schema.OpenAPIV3Schema
			}
		}
	}
	return d, nil
}

// apply returns the object with the defaults of its kind.
func (d defaults) apply(resource string, raw []byte) ([]byte, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	value, err := withDefaults(value, d[resource])
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// withDefaults sets missing properties that have a default, then descends.
func withDefaults(value any, schema *apiextensionsv1.JSONSchemaProps) (any, error) {
	if schema == nil {
		return value, nil
	}
	var err error
	switch v := value.(type) {
	case map[string]any:
		for name, property := range schema.Properties {
			// A null counts as missing, unless the property may be null.
			if value, set := v[name]; property.Default != nil && (!set || value == nil && !property.Nullable) {
				var fallback any
				if err := json.Unmarshal(property.Default.Raw, &fallback); err != nil {
					return nil, fmt.Errorf("default of %s: %w", name, err)
				}
				v[name] = fallback
			}
		}
		for name, child := range v {
			property, known := schema.Properties[name]
			switch {
			case known:
				v[name], err = withDefaults(child, &property)
			case schema.AdditionalProperties != nil:
				v[name], err = withDefaults(child, schema.AdditionalProperties.Schema)
			}
			if err != nil {
				return nil, err
			}
		}
	case []any:
		if schema.Items == nil {
			return v, nil
		}
		for i := range v {
			if v[i], err = withDefaults(v[i], schema.Items.Schema); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
