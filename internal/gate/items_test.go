package gate

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

type listed struct {
	Name   string            `yaml:"name"`
	New    string            `yaml:"new,omitempty" since:"3.0.0"`
	Values []string          `yaml:"values,omitempty"`
	Labels map[string]string `yaml:"labels,omitempty"`
	Inner  []listed          `yaml:"inner,omitempty"`
}

// Items that are written one by one equal those that are written together.
func TestItems(t *testing.T) {
	to := target("2.50.0", Server)
	jobs := []listed{{Name: "a", New: "x"}, {Name: "b\nc", Values: []string{"1", "y"}}, {Inner: []listed{{Name: "z", New: "x"}}, Labels: map[string]string{"a": "b"}}}
	want, dropped, err := AppendItems(nil, jobs, to, "list")
	if err != nil {
		t.Fatal(err)
	}
	list := NewItems(to, "list", len(want))
	for i := range jobs {
		if err := list.Add(&jobs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if string(list.Text) != string(want) || !slices.Equal(list.Dropped, dropped) || list.Len() != 3 {
		t.Errorf("%s\n%v, want\n%s\n%v", list.Text, list.Dropped, want, dropped)
	}
	short := NewItems(to, "list", len(want)-1)
	for i := range jobs {
		err = short.Add(&jobs[i])
	}
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("one byte above the limit: %v", err)
	}
}

// Writing stops near the limit, whichever part of the value is long.
func TestItemsStop(t *testing.T) {
	to := target("3.5.0", Server)
	const n, limit = 100_000, 10_000
	labels := map[string]string{}
	for i := range n {
		labels[fmt.Sprint("label", i)] = "value"
	}
	deep := listed{Name: "x"}
	for range 500 {
		deep = listed{Name: strings.Repeat("n", 50), Inner: []listed{deep}}
	}
	for name, item := range map[string]listed{
		"list":  {Values: slices.Repeat([]string{"value"}, n)},
		"jobs":  {Inner: slices.Repeat([]listed{{Name: "a"}}, n)},
		"map":   {Labels: labels},
		"text":  {Name: strings.Repeat("x", n)},
		"lines": {Name: strings.Repeat("x\n", n)},
		"keys":  {Labels: map[string]string{strings.Repeat("x", n): ""}},
		"depth": deep,
	} {
		list := NewItems(to, "list", limit)
		if err := list.Add(&item); !errors.Is(err, ErrTooLong) || len(list.Text) > limit+1000 {
			t.Errorf("%s: %d bytes, %v", name, len(list.Text), err)
		}
	}
}

// Values with variables that must not be substituted are read as they are written, and keys with any.
func TestLiteral(t *testing.T) {
	type item struct {
		A string              `yaml:"a"`
		B []string            `yaml:"b"`
		C map[string]string   `yaml:"c"`
		D map[string][]string `yaml:"d"`
		E Node                `yaml:"e"`
	}
	text, long := "$(A) \"\\$(B)\n\x07\u0085é\U0001f600: x", strings.Repeat("long: ", 200)
	in := item{
		A: text, B: []string{text, "$(kept)"}, C: map[string]string{
			"k": text, "$(K)": text, "$(L)": "$(kept)", "$(M)\n: ": "a\nb", "$(N) " + long: long, "#": text, "##": "a",
		},
		D: map[string][]string{"$(K)": {text, long}, long: {text}, long + "$(K)": {text, "$(kept)"}},
		E: Node{{Key: "$(K)", Value: []any{text}}, {Key: "k", Value: text}, {Key: "#", Value: text}, {Key: "a", Value: nil}, {Key: "n", Value: Node{{Key: "$(K)", Value: text}}}},
	}
	l := NewItems(Target{}, "items", 0)
	l.Literal = func(s string) bool { return s == text }
	if err := l.AddAll([]item{in, in}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(l.Text), "$("); n != 2*3 {
		t.Errorf("%d references are left:\n%s", n, l.Text)
	}
	var out []item
	if err := yaml.Unmarshal(l.Text, &out); err != nil || len(out) != 2 || !reflect.DeepEqual(out[1], in) {
		t.Errorf("%v becomes %v, error %v:\n%s", in, out, err, l.Text)
	}
}

// Keys of other types cannot be escaped.
func TestLiteralKeys(t *testing.T) {
	l := NewItems(Target{}, "items", 0)
	l.Literal = func(string) bool { return true }
	if err := l.Add(Node{{Key: 1, Value: "a"}}); err == nil || err.Error() != "items[0]: key 1 is not a string" {
		t.Error(err)
	}
}
