package shrink_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/shrink"
)

func TestList(t *testing.T) {
	all := make([]int, 400)
	for i := range all {
		all[i] = i
	}
	for _, culprits := range [][]int{{0}, {399}, {123}, {7, 300}, {1, 2, 390}} {
		asked := 0
		got := shrink.List(all, func(some []int) bool {
			asked++
			for _, c := range culprits {
				if !slices.Contains(some, c) {
					return false
				}
			}
			return true
		})
		if !slices.Equal(got, culprits) {
			t.Errorf("found %v, want %v", got, culprits)
		}
		if asked > 120 {
			t.Errorf("asked %d times for %v", asked, culprits)
		}
	}
	if got := shrink.List([]int{1, 2}, func([]int) bool { return false }); len(got) != 2 {
		t.Errorf("lost what fails: %v", got)
	}
}

func TestValue(t *testing.T) {
	object := func() map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "X", "metadata": map[string]any{"name": "a", "labels": map[string]any{"x": "y"}},
			"spec": map[string]any{
				"text": strings.Repeat("x", 1000), "other": int64(3),
				"list": []any{"a", map[string]any{"bad": true, "good": []any{int64(1)}}, "c"},
			},
		}
	}
	fails := func(o map[string]any) bool {
		spec, _ := o["spec"].(map[string]any)
		list, _ := spec["list"].([]any)
		return slices.ContainsFunc(list, func(v any) bool {
			item, _ := v.(map[string]any)
			return item["bad"] == true
		})
	}
	got := shrink.Value(object(), fails)
	want := map[string]any{
		"apiVersion": "v1", "kind": "X", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"list": []any{map[string]any{"bad": true}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	long := shrink.Value(object(), func(o map[string]any) bool {
		spec, _ := o["spec"].(map[string]any)
		text, _ := spec["text"].(string)
		return len(text) >= 100
	})
	if n := len(long["spec"].(map[string]any)["text"].(string)); n < 100 || n >= 250 {
		t.Errorf("a text of %d", n)
	}
}
