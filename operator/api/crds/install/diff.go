package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// Diff lists the changes that applying the step makes, one per line: `+` is added, `-` is
// removed, `~` is changed. It returns nothing if there are no changes. Fields are named
// as users write them, `v1 spec.endpoints[].interval`; a field that is added or removed
// with its subfields is one line. Changed descriptions are only counted.
func (s Step) Diff() []string {
	if s.Live == nil {
		return []string{"+ not installed"}
	}
	d := differ{}
	d.lines = metadataDiff(s.Want, s.Live, origin(s.Live)...)
	want, live := tree(s.Want.Spec), tree(s.Live.Spec)
	d.versions(list(live["versions"]), list(want["versions"]))
	delete(want, "versions")
	delete(live, "versions")
	d.values("spec", live, want)
	return d.lines
}

// origin returns the annotations that are not compared because live lacks the version
// annotation: CRDs that were applied without this program do not have them.
func origin(live *apiextensionsv1.CustomResourceDefinition) []string {
	if live.Annotations[crds.VersionAnnotation] != "" {
		return nil
	}
	return []string{crds.VersionAnnotation, crds.DistributionAnnotation}
}

// metadataDiff compares the annotations and labels that we set, except for some.
func metadataDiff(want, live *apiextensionsv1.CustomResourceDefinition, except ...string) []string {
	var out []string
	for _, part := range []struct {
		name       string
		want, live map[string]string
	}{
		{"annotations", want.Annotations, live.Annotations},
		{"labels", want.Labels, live.Labels},
	} {
		for _, key := range slices.Sorted(maps.Keys(part.want)) {
			now, set := part.live[key]
			if slices.Contains(except, key) {
				continue
			}
			switch name := fmt.Sprintf("metadata.%s[%s]", part.name, key); {
			case !set:
				out = append(out, fmt.Sprintf("+ %s: %q", name, part.want[key]))
			case now != part.want[key]:
				out = append(out, fmt.Sprintf("~ %s: %q -> %q", name, now, part.want[key]))
			}
		}
	}
	return out
}

type differ struct {
	lines        []string
	descriptions int // number of changes in the current version
}

func (d *differ) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// versions compares the versions of a CRD by name.
func (d *differ) versions(live, want []any) {
	before, after := byName(live), byName(want)
	for _, name := range union(before, after) {
		a, was := before[name]
		b, is := after[name]
		switch {
		case !was:
			d.add("+ version %s", name)
		case !is:
			d.add("- version %s", name)
		default:
			d.version(name, a, b)
		}
	}
}

func (d *differ) version(name string, live, want map[string]any) {
	d.descriptions = 0
	d.schema(name+" ", object(object(live, "schema"), "openAPIV3Schema"), object(object(want, "schema"), "openAPIV3Schema"))
	if d.descriptions > 0 {
		d.add("~ %s descriptions: %d differ", name, d.descriptions)
	}
	delete(live, "schema")
	delete(want, "schema")
	d.values(name, live, want)
}

// schema compares two schemas of the field at path.
func (d *differ) schema(path string, live, want map[string]any) {
	for _, key := range union(live, want) {
		a, was := live[key]
		b, is := want[key]
		switch {
		case reflect.DeepEqual(a, b):
		case key == "description":
			d.descriptions++
		case key == "properties":
			d.properties(path, asObject(a), asObject(b))
		case key == "items" && was && is:
			d.schema(path+"[]", asObject(a), asObject(b))
		case key == "additionalProperties" && isObject(a) && isObject(b):
			d.schema(path+"{}", asObject(a), asObject(b))
		default:
			d.value(strings.TrimSpace(path)+": "+key, a, b, was, is)
		}
	}
}

func (d *differ) properties(path string, live, want map[string]any) {
	for _, name := range union(live, want) {
		field := path + "." + name
		if strings.HasSuffix(path, " ") {
			field = path + name
		}
		a, was := live[name]
		b, is := want[name]
		switch {
		case was && is:
			d.schema(field, asObject(a), asObject(b))
		case is:
			d.add("+ %s (%s)", field, summary(asObject(b)))
		default:
			d.add("- %s (%s)", field, summary(asObject(a)))
		}
	}
}

// values compares values other than schemas.
func (d *differ) values(path string, live, want any) {
	a, aIs := live.(map[string]any)
	b, bIs := want.(map[string]any)
	if !aIs || !bIs {
		if !reflect.DeepEqual(live, want) {
			d.value(path, live, want, live != nil, want != nil)
		}
		return
	}
	for _, key := range union(a, b) {
		d.values(path+"."+key, a[key], b[key])
	}
}

func (d *differ) value(path string, live, want any, was, is bool) {
	switch {
	case !was:
		d.add("+ %s: %s", path, short(want))
	case !is:
		d.add("- %s: %s", path, short(live))
	default:
		d.add("~ %s: %s -> %s", path, short(live), short(want))
	}
}

// summary returns the type of a field and the number of its subfields.
func summary(schema map[string]any) string {
	text := "any"
	if t, ok := schema["type"].(string); ok {
		text = t
	}
	if n := count(schema); n > 0 {
		text += fmt.Sprintf(", %d fields", n)
	}
	return text
}

func count(schema map[string]any) int {
	n := 0
	for _, property := range object(schema, "properties") {
		n += 1 + count(asObject(property))
	}
	return n + countBelow(schema["items"]) + countBelow(schema["additionalProperties"])
}

func countBelow(v any) int {
	if !isObject(v) {
		return 0
	}
	return count(asObject(v))
}

// short returns a value on one line, truncated if it is long.
func short(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	const limit = 200
	return excerpt.Of(strings.TrimSpace(b.String()), limit)
}

// tree converts a value to generic JSON types.
func tree(v any) map[string]any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was just decoded from the API server
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

func byName(versions []any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, v := range versions {
		out[fmt.Sprint(asObject(v)["name"])] = asObject(v)
	}
	return out
}

func union[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func object(m map[string]any, key string) map[string]any { return asObject(m[key]) }

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
