package jsonspan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestGet(t *testing.T) {
	const doc = ` { "a" : 1, "b\"c" : [ {"x":"}]\\\""} , null,"s" ], "d": {"e": {"f": true}}, "a": "last" } `
	for _, tc := range []struct{ path, want string }{
		{"a", `"last"`}, {`b"c`, `[ {"x":"}]\\\""} , null,"s" ]`}, {"d e f", "true"}, {"d e g", ""}, {"a b", ""}, {"d", `{"e": {"f": true}}`},
	} {
		if got := string(Get([]byte(doc), strings.Fields(tc.path)...)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.want)
		}
	}
	var all []string
	Elements(Get([]byte(doc), `b"c`), func(v []byte) bool { all = append(all, string(v)); return true })
	if want := []string{`{"x":"}]\\\""}`, "null", `"s"`}; !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
}

func TestWeighty(t *testing.T) {
	for doc, want := range map[string]int{
		`{}`: 1, `[]`: 0, `["a","b"]`: 0, `[null,null, 1,true]`: 4, `{"a":[{},{}],"b":"{{{","c":3}`: 3, `[[null],[-1]]`: 2, ` [ null ] `: 1,
	} {
		if got := Weighty([]byte(doc)); got != want {
			t.Errorf("%s: %d, want %d", doc, got, want)
		}
	}
	if n := Count([]byte(`[1,2,3,4]`), 2); n != 3 {
		t.Error(n)
	}
}

// Nothing is allocated, regardless of the decoded size of the document.
func TestAllocations(t *testing.T) {
	doc := []byte(`{"objects":[` + strings.Repeat("{},", 100_000) + `{}]}`)
	allocated := testing.AllocsPerRun(5, func() {
		Count(Get(doc, "objects"), 200_000)
		Weighty(doc)
	})
	if allocated > 10 {
		t.Errorf("%v allocations", allocated)
	}
}

// The results equal those of encoding/json, and invalid JSON does not panic.
func FuzzSpans(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":null}],"c":"\u0041\\"}`, `{"a":`, `["`, `{"\`, `[[[`, `{"a" 1}`, `{"a":}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		Weighty([]byte(doc))
		Count([]byte(doc), 10)
		got := map[string]string{}
		Members([]byte(doc), func(name string, v []byte) bool { got[name] = string(v); return true })
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(doc), &want) != nil {
			return
		}
		for name, v := range want {
			if got[name] != string(v) {
				t.Errorf("%q: %q, want %q", name, got[name], v)
			}
		}
		if len(got) != len(want) {
			t.Error(fmt.Sprint(got))
		}
	})
}

func TestWithout(t *testing.T) {
	raw := []byte(`{"metadata": {"name":"a","managedFields":[{"a":"]"}]},"spec":{"b":[1]} , "status":{}}`)
	for _, document := range [][]byte{raw, append(make([]byte, 0, 4096), raw...), append([]byte("before"), raw...)[6:]} {
		got := string(Without(nil, document, Get(document, "metadata", "managedFields"), Get(document, "other"), Get(document, "spec")))
		if want := `{"metadata": {"name":"a","managedFields":null},"spec":null , "status":{}}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if other := string(Without(nil, document, Get(document, "spec"), Get(document, "metadata", "managedFields"))); other != got {
			t.Errorf("in another order: %s", other)
		}
		if got := string(Without([]byte("x"), document)); got != "x"+string(raw) {
			t.Errorf("without nothing: %s", got)
		}
	}
}
