package admission

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
)

func TestMutate(t *testing.T) {
	for name, tc := range map[string]struct{ manifest, want string }{
		"nothing to do": {ruleObject("{alert: A, expr: up, labels: {a: b}, annotations: {c: null, d: ''}}"),
			`[{"op":"add","path":"/metadata/annotations","value":{"prometheus-operator-validated":"true"}}]`},
		"null annotations": {"metadata: {annotations: null}\nspec: {}",
			`[{"op":"add","path":"/metadata/annotations","value":{"prometheus-operator-validated":"true"}}]`},
		"annotations of its own": {"metadata: {annotations: {}}\nspec: {}",
			`[{"op":"add","path":"/metadata/annotations/prometheus-operator-validated","value":"true"}]`},
		"annotations, then labels": {ruleObject("{alert: A, expr: up, labels: {z: false, a: 1}, annotations: {c: true, b: 1000000}}"),
			`[{"op":"replace","path":"/spec/groups/0/rules/0/annotations/b","value":"1000000"},` +
				`{"op":"replace","path":"/spec/groups/0/rules/0/annotations/c","value":"true"},` +
				`{"op":"replace","path":"/spec/groups/0/rules/0/labels/a","value":"1"},` +
				`{"op":"replace","path":"/spec/groups/0/rules/0/labels/z","value":"false"},` +
				`{"op":"add","path":"/metadata/annotations","value":{"prometheus-operator-validated":"true"}}]`},
		"keys and values to escape": {ruleObject(`{alert: A, expr: up, labels: {"a/b~c": {"x": ["\"", 1.50]}}}`),
			`[{"op":"replace","path":"/spec/groups/0/rules/0/labels/a~1b~0c","value":"{\"x\":[\"\\\"\",1.5]}"},` +
				`{"op":"add","path":"/metadata/annotations","value":{"prometheus-operator-validated":"true"}}]`},
		"rules that are none":   {"spec: {groups: [{rules: 1}]}", "spec.groups[0].rules: want a list, got an integer"},
		"labels that are none":  {ruleObject("{alert: A, expr: up, labels: x}"), "spec.groups[0].rules[0].labels: want an object, got a string"},
		"metadata that is none": {"metadata: x", "metadata: want an object, got a string"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask(t, New(Options{}), MutateRulesPath, request(toJSON(t, tc.manifest), "prometheusrules v1"))
			got := string(r.Patch)
			if !r.Allowed {
				got = causes(t, r)
			} else if r.PatchType == nil || *r.PatchType != admissionv1.PatchTypeJSONPatch {
				t.Error("no patch type")
			}
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// A number becomes a string with the spelling of the user, without conversion to a float.
func TestLiteralsStay(t *testing.T) {
	for _, literal := range []string{"1000000", "12345678901234567890", "1.50", "1e3", "-0", "true"} {
		raw := `{"spec":{"groups":[{"rules":[{"labels":{"a":` + literal + `}}]}]}}`
		r := ask(t, New(Options{}), MutateRulesPath, request([]byte(raw), "prometheusrules v1"))
		if want := `"value":"` + literal + `"`; !strings.Contains(string(r.Patch), want) {
			t.Errorf("%s: %s", want, r.Patch)
		}
	}
}

// A patched object with booleans, numbers, nulls and empty strings passes validation.
func TestMutatedObjectsAreValid(t *testing.T) {
	raw := toJSON(t, ruleObject(
		"{alert: A, expr: up, labels: {a: true, b: 1, c: null, d: '', e: 1.5}, annotations: {f: [x], g: {h: i}, j: false}}",
		"{record: r, expr: 1, labels: {k: 0}}"))
	h := New(Options{})
	r := ask(t, h, MutateRulesPath, request(raw, "prometheusrules v1"))
	var patch []operation
	if err := json.Unmarshal(r.Patch, &patch); err != nil {
		t.Fatal(err)
	}
	var object any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	for _, op := range patch {
		if err := op.apply(object); err != nil {
			t.Fatalf("%+v: %v", op, err)
		}
	}
	patched, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if got := causes(t, ask(t, h, ValidateRulesPath, request(patched, "prometheusrules v1"))); got != "" {
		t.Errorf("%s\n%s", got, patched)
	}
	if !strings.Contains(string(patched), `"prometheus-operator-validated":"true"`) {
		t.Error("no mark")
	}
}

// apply implements add and replace of RFC 6902 for object members.
func (o operation) apply(document any) error {
	parts := strings.Split(o.Path, "/")[1:]
	at := document
	for _, p := range parts[:len(parts)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil {
				return err
			}
			at = v[i]
		}
	}
	parent, ok := at.(map[string]any)
	if !ok {
		return fmt.Errorf("%s has no parent", o.Path)
	}
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[len(parts)-1])
	if _, is := parent[key]; !is && o.Op == "replace" {
		return fmt.Errorf("%s does not exist", o.Path)
	}
	parent[key] = o.Value
	return nil
}
