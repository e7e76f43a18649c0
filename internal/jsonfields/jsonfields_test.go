package jsonfields

import (
	"maps"
	"reflect"
	"slices"
	"testing"
)

type inner struct {
	A string `json:"a"`
	B int    `json:"b,omitempty"`
}

type outer struct {
	*inner
	B      bool `json:"b"`
	Hidden int  `json:"-"`
	Plain  float64
	own    int
}

func TestOf(t *testing.T) {
	got := Of(reflect.TypeFor[outer]())
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"Plain", "a", "b"}) {
		t.Errorf("fields %v", names)
	}
	if got["a"].Kind() != reflect.String || got["b"].Kind() != reflect.Bool {
		t.Errorf("types %v", got)
	}
	_ = outer{own: 1}.own
}

type (
	byPointer struct{}
	byValue   struct{}
)

func (*byPointer) UnmarshalText([]byte) error { return nil }
func (byValue) UnmarshalJSON([]byte) error    { return nil }

func TestOpaque(t *testing.T) {
	for of, want := range map[reflect.Type]bool{
		reflect.TypeFor[byPointer](): true,
		reflect.TypeFor[byValue]():   true,
		reflect.TypeFor[outer]():     false,
		reflect.TypeFor[string]():    false,
		reflect.TypeFor[[]byValue](): false,
	} {
		if Opaque(of) != want {
			t.Errorf("Opaque(%v) is %t", of, !want)
		}
	}
}
