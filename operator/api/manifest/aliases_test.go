package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Aliases that expand to gigabytes are rejected before they are expanded.
func TestAliases(t *testing.T) {
	flat := "a: &a " + strings.Repeat("x", 500_000) + "\nb: [" + strings.Repeat("*a,", 2000) + "]\n"
	nested := "a0: &a0 [x, x]\n"
	for i := range 40 {
		nested += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	merged := "a: &a {k: " + strings.Repeat("x", 100_000) + "}\n" + strings.Repeat("---\na: &a {k: "+strings.Repeat("x", 100_000)+"}\nb: [{<<: *a}]\n", 50)
	for name, tc := range map[string]struct {
		text string
		line int // 0 means no error
	}{
		"one long text":                  {flat, 2},
		"aliases of aliases":             {nested, 17},
		"in flow style":                  {`{a: &a "` + strings.Repeat("x", 500_000) + `", b: [` + strings.Repeat("*a,", 2000) + "]}", 1},
		"a little in each of many":       {merged, 127},
		"of keys":                        {"a: &a " + strings.Repeat("x", 50_000) + "\nb:" + strings.Repeat("\n- *a : 1", 100), 86},
		"a value that contains itself":   {"a: &a [*a]\n", 1},
		"the second document":            {"a: b\n--- # more\n" + flat, 4},
		"as people use them":             {"a: &a {interval: 30s}\nb: [*a, *a]\nc: {<<: *a, port: web}\n", 0},
		"no anchors but their signs":     {"expr: a * b & c\n", 0},
		"a text that is no alias at all": {"a: |\n  &a\n  *a\n", 0},
	} {
		err := new(Aliases).Check([]byte(tc.text))
		got := 0
		if at, is := errors.AsType[*AliasError](err); is {
			got = at.Line
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got != tc.line {
			t.Errorf("%s: line %d, want %d", name, got, tc.line)
		}
		var into map[string]any
		if err := Decode([]byte(tc.text), &into); tc.line > 0 && err == nil {
			t.Errorf("%s: is decoded", name)
		}
	}
	if err := new(Aliases).Check([]byte("a: &a b\nb: *c\n")); err == nil {
		t.Error("an alias of nothing is no error")
	}
}
