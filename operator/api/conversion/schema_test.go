package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// schemas returns the schemas of both versions in our CRD.
func schemas(t testing.TB) map[string]*structuralschema.Structural {
	t.Helper()
	all, err := crds.Full("")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Spec.Names.Kind == "AlertmanagerConfig"
	})
	out := map[string]*structuralschema.Structural{}
	for _, version := range all[i].Spec.Versions {
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			t.Fatal(err)
		}
		s, err := structuralschema.NewStructural(&props)
		if err != nil {
			t.Fatal(err)
		}
		out[all[i].Spec.Group+"/"+version.Name] = s
	}
	return out
}

// The fields that differ between the versions are exactly those that the conversion
// handles.
func TestVersionsDiffer(t *testing.T) {
	var want []string
	for list, keys := range references {
		for _, key := range keys {
			want = append(want, "- .spec.receivers[]."+list+"[]."+key+".optional")
		}
		if list != "emailConfigs" { // has no httpConfig
			want = append(want, "- .spec.receivers[]."+list+"[].httpConfig.bearerTokenSecret.optional")
		}
	}
	want = append(want, "- .spec.receivers[].opsgenieConfigs[].updateAlerts", "- .spec.muteTimeIntervals", "+ .spec.timeIntervals",
		"- .spec.route.matchers[].regex", "- .spec.inhibitRules[].sourceMatch[].regex", "- .spec.inhibitRules[].targetMatch[].regex")
	slices.Sort(want)
	both := schemas(t)
	var got []string
	differences("", both[alpha], both[beta], &got)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("known -, in the CRD +\n%s", diff)
	}
}

func differences(path string, a, b *structuralschema.Structural, out *[]string) {
	if a.Type != b.Type {
		*out = append(*out, "type of "+path)
	}
	if a.Items != nil {
		differences(path+"[]", a.Items, b.Items, out)
	}
	for name, there := range b.Properties {
		if here, has := a.Properties[name]; has {
			differences(path+"."+name, &here, &there, out)
		} else {
			*out = append(*out, "+ "+path+"."+name)
		}
	}
	for name := range a.Properties {
		if _, has := b.Properties[name]; !has {
			*out = append(*out, "- "+path+"."+name)
		}
	}
}

// Objects that the schema of one version accepts are converted to the other version and
// back without loss, although the API server prunes fields that the other version does not
// have.
func FuzzSchema(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	both := schemas(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		from, to := alpha, beta
		if seed%2 == 1 {
			from, to = to, from
		}
		g := generator{rand.New(rand.NewPCG(seed, 0))}
		in := g.value(both[from], 0).(map[string]any)
		in["apiVersion"], in["kind"] = from, "AlertmanagerConfig"
		in["metadata"] = map[string]any{"name": "a", "namespace": "b", "labels": map[string]any{"c": "d"}}
		unique(in)
		raw := text(t, in)
		there := pruned(t, convert(t, raw, to), both[to])
		back := pruned(t, convert(t, there, from), both[from])
		want, got := tree(t, raw), tree(t, back)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("there and back (want -, got +)\n%s", diff)
		}
		again := pruned(t, convert(t, back, to), both[to])
		if diff := cmp.Diff(tree(t, there), tree(t, again)); diff != "" {
			t.Errorf("there again (first -, second +)\n%s", diff)
		}
	})
}

// unique sets unique names of receivers, which the schema of v1alpha1 requires.
func unique(object map[string]any) {
	spec, _ := object["spec"].(map[string]any)
	receivers, _ := spec["receivers"].([]any)
	for i, r := range receivers {
		if r, is := r.(map[string]any); is {
			r["name"] = fmt.Sprint("r", i, "\u00e9\"")
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func decoded(t *testing.T, raw string) map[string]any {
	t.Helper()
	var out map[string]any
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return out
}

// pruned returns the object as an API server stores it after the conversion.
func pruned(t *testing.T, raw string, schema *structuralschema.Structural) string {
	t.Helper()
	object := decoded(t, raw)
	pruning.Prune(object, schema, true)
	return text(t, object)
}

// tree decodes an object and normalizes valid matchers to matchType.
func tree(t *testing.T, raw string) any {
	t.Helper()
	object := decoded(t, raw)
	spec, _ := object["spec"].(map[string]any)
	for _, rule := range list(spec["inhibitRules"]) {
		rule, _ := rule.(map[string]any)
		meant(rule["sourceMatch"])
		meant(rule["targetMatch"])
	}
	var routes func(any)
	routes = func(v any) {
		route, _ := v.(map[string]any)
		meant(route["matchers"])
		for _, child := range list(route["routes"]) {
			routes(child)
		}
	}
	routes(spec["route"])
	return object
}

func list(v any) []any {
	out, _ := v.([]any)
	return out
}

func meant(matchers any) {
	for _, m := range list(matchers) {
		m, is := m.(map[string]any)
		if !is {
			continue
		}
		operator, isText := m["matchType"].(string)
		regex, isFlag := m["regex"].(bool)
		if m["matchType"] != nil && !isText || m["regex"] != nil && !isFlag {
			continue
		}
		switch {
		case operator != "":
		case regex:
			m["matchType"] = "=~"
		default:
			m["matchType"] = "="
		}
		delete(m, "regex")
	}
}

// generator generates values that a schema accepts, including extreme ones.
type generator struct{ *rand.Rand }

var (
	numbers = []string{"0", "-1", "2147483648", "3000000000", "9223372036854775807", "-9223372036854775808", "123456789012345678901234567890", "1e400", "1.50", "-0.0"}
	strs    = []string{"", "a", "x<y>&z", "\u00e9\u2028\"\\", "optional", strings.Repeat("long ", 20), "=~", "\u0000"}
)

func (g generator) value(s *structuralschema.Structural, depth int) any {
	if s.XPreserveUnknownFields && s.Type == "" {
		return g.anything(depth)
	}
	switch s.Type {
	case "object":
		return g.object(s, depth)
	case "array":
		out := []any{}
		for range g.IntN(3) {
			out = append(out, g.value(s.Items, depth+1))
		}
		return out
	case "integer", "number":
		return json.Number(numbers[g.IntN(len(numbers))])
	case "boolean":
		return g.IntN(2) == 0
	case "string":
		if s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0 {
			return s.ValueValidation.Enum[g.IntN(len(s.ValueValidation.Enum))].Object
		}
		return strs[g.IntN(len(strs))]
	}
	return g.anything(depth)
}

func (g generator) object(s *structuralschema.Structural, depth int) any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if field := s.Properties[name]; depth < 2 || g.IntN(3) > 0 {
			out[name] = g.value(&field, depth+1)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		for range g.IntN(3) {
			out[strs[g.IntN(len(strs))]] = g.value(s.AdditionalProperties.Structural, depth+1)
		}
	}
	return out
}

// anything returns a value for a field without a schema, such as a child route: often
// nearly a valid one.
func (g generator) anything(depth int) any {
	switch n := g.IntN(12); {
	case depth > 14 || n == 0:
		return nil
	case n == 1:
		return g.IntN(2) == 0
	case n == 2:
		return json.Number(numbers[g.IntN(len(numbers))])
	case n == 3:
		return strs[g.IntN(len(strs))]
	case n < 6:
		out := []any{}
		for range g.IntN(3) {
			out = append(out, g.anything(depth+1))
		}
		return out
	}
	names := []string{"receiver", "Receiver", "routes", "Routes", "matchers", "matchType", "regex", "name", "value", "muteTimeIntervals", "timeIntervals", "optional", "continue", "\u017f"}
	out := map[string]any{}
	for range g.IntN(4) {
		out[names[g.IntN(len(names))]] = g.anything(depth + 1)
	}
	return out
}
