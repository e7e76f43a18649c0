package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is one node of an OpenAPI v3 schema as decoded from JSON.
type schema = map[string]any

// coreTypes are Kubernetes types that the published surface refers to by name instead of
// expanding them, with the properties that identify them. The first match wins.
var coreTypes = []struct {
	name  string
	keys  []string
	exact bool // no properties besides keys
}{
	{"Affinity", []string{"nodeAffinity", "podAffinity", "podAntiAffinity"}, false},
	{"Toleration", []string{"effect", "key", "operator", "tolerationSeconds", "value"}, true},
	{"TopologySpreadConstraint*", []string{"maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector"}, false},
	{"Container", []string{"args", "command", "env", "image", "lifecycle", "livenessProbe", "name", "volumeMounts"}, false},
	{"Volume", []string{"configMap", "emptyDir", "hostPath", "secret", "projected", "name"}, false},
	{"VolumeMount", []string{"mountPath", "name", "readOnly", "subPath"}, false},
	{"PodSecurityContext", []string{"fsGroup", "runAsUser", "supplementalGroups", "sysctls"}, false},
	{"ResourceRequirements", []string{"claims", "limits", "requests"}, true},
	{"VolumeResourceRequirements", []string{"limits", "requests"}, true},
	{"EmptyDirVolumeSource", []string{"medium", "sizeLimit"}, true},
	{"EphemeralVolumeSource", []string{"volumeClaimTemplate"}, true},
	{"HostAlias", []string{"hostnames", "ip"}, true},
	{"LabelSelector", []string{"matchExpressions", "matchLabels"}, true},
	{"LocalObjectReference", []string{"name"}, true},
	{"KeySelector", []string{"key", "name", "optional"}, true},
	{"EnvVar", []string{"name", "value", "valueFrom"}, true},
	{"PersistentVolumeClaimStatus", []string{"accessModes", "allocatedResources", "capacity", "conditions", "phase"}, false},
	{"TypedLocalObjectReference", []string{"apiGroup", "kind", "name"}, true},
	{"PersistentVolumeClaimRetentionPolicy", []string{"whenDeleted", "whenScaled"}, true},
}

// facetNames are the schema keywords that are part of the surface, in output order.
var facetNames = []string{
	"format", "enum", "default", "pattern", "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength",
	"minItems", "maxItems", "minProperties", "maxProperties", "nullable", "multipleOf",
	"x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
	"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations",
}

// flatten returns one line per field of a version's spec and status, keyed by
// the field's path: type, whether it is required, and its facets.
func flatten(version schema) map[string]string {
	out := map[string]string{}
	properties := object(version, "schema", "openAPIV3Schema", "properties")
	top := schema{}
	for _, name := range []string{"spec", "status"} {
		if p, ok := properties[name]; ok {
			top[name] = p
		}
	}
	walk(schema{"type": "object", "properties": top}, "", out)
	return out
}

// walk adds the fields below s to out.
func walk(s schema, path string, out map[string]string) {
	o := inner(s)
	if coreName(o) != "" {
		return
	}
	required, _ := o["required"].([]any)
	for name, child := range object(o, "properties") {
		c := child.(schema)
		p := name
		if path != "" {
			p = path + "." + name
		}
		out[p] = describe(c, slices.Contains(required, any(name)))
		if c["type"] == "array" {
			p += "[]"
		}
		walk(c, p, out)
	}
}

// describe returns the type and facets of one field.
func describe(s schema, required bool) string {
	parts := []string{typeName(s)}
	if required {
		parts = append(parts, "required")
	}
	if f := facets(s); f != "" {
		parts = append(parts, f)
	}
	if i := inner(s); !isSame(i, s) {
		if f := facets(i); f != "" {
			parts = append(parts, "items("+f+")")
		}
	}
	return strings.Join(parts, "  ")
}

func facets(s schema) string {
	var out []string
	for _, name := range facetNames {
		v, ok := s[name]
		if !ok {
			continue
		}
		if name == "x-kubernetes-validations" {
			v = rules(v.([]any))
		}
		out = append(out, strings.TrimPrefix(name, "x-kubernetes-")+"="+spacedJSON(v))
	}
	if s["x-kubernetes-int-or-string"] != true {
		for _, name := range []string{"oneOf", "anyOf", "allOf", "not"} {
			if v, ok := s[name]; ok {
				out = append(out, name+"="+spacedJSON(v))
			}
		}
	}
	return strings.Join(out, " ")
}

// rules returns the user-visible parts of CEL rules.
func rules(in []any) []any {
	out := make([]any, len(in))
	for i, r := range in {
		kept := schema{}
		for _, key := range []string{"rule", "message"} {
			if v, ok := r.(schema)[key]; ok {
				kept[key] = v
			}
		}
		out[i] = kept
	}
	return out
}

func typeName(s schema) string {
	if s["x-kubernetes-int-or-string"] == true {
		return "int-or-string"
	}
	switch t, _ := s["type"].(string); t {
	case "":
		return "any"
	case "array":
		return "[]" + typeName(s["items"].(schema))
	case "object":
		if c := coreName(s); c != "" {
			return "core:" + c
		}
		if v, ok := s["additionalProperties"].(schema); ok {
			return "map[string]" + typeName(v)
		}
		return t
	default:
		return t
	}
}

func coreName(s schema) string {
	properties := object(s, "properties")
	for _, c := range coreTypes {
		has := func(key string) bool { _, ok := properties[key]; return ok }
		missing := slices.ContainsFunc(c.keys, func(key string) bool { return !has(key) })
		if !missing && (!c.exact || len(properties) == len(c.keys)) {
			return c.name
		}
	}
	return ""
}

// inner returns the schema with the fields, below lists and maps.
func inner(s schema) schema {
	for {
		values, isMap := s["additionalProperties"].(schema)
		_, hasProperties := s["properties"]
		switch {
		case s["type"] == "array":
			s = s["items"].(schema)
		case s["type"] == "object" && isMap && !hasProperties:
			s = values
		default:
			return s
		}
	}
}

func isSame(a, b schema) bool { return fmt.Sprintf("%p", a) == fmt.Sprintf("%p", b) }

// object returns the object at a path of keys. A missing one is empty.
func object(s schema, keys ...string) schema {
	for _, key := range keys {
		s, _ = s[key].(schema)
	}
	return s
}

// spacedJSON encodes with sorted keys and a space after `:` and `,`, like the published
// surface.
func spacedJSON(v any) string {
	switch v := v.(type) {
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = spacedJSON(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case schema:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, spacedJSON(key)+": "+spacedJSON(v[key]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	default:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err.Error()
		}
		return strings.TrimSpace(b.String())
	}
}
