package fragments

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// A result is kept until its key or a dependency changes. Errors are never kept.
func TestKept(t *testing.T) {
	versions := map[assets.Ref]string{password: "1"}
	current := (&cache{versions: versions}).current
	var kept Kept[string]
	computed := 0
	for i, step := range []struct {
		what, key string
		change    func()
		fails     bool
		fresh     bool
	}{
		{"the first time", "a/1", nil, false, true},
		{"again", "a/1", nil, false, false},
		{"another generation", "a/2", nil, false, true},
		{"a changed Secret", "a/2", func() { versions[password] = "2" }, false, true},
		{"again after the change", "a/2", nil, false, false},
		{"an error", "a/3", nil, true, true},
		{"again after an error", "a/3", nil, false, true},
		{"an empty key", "", nil, false, true},
	} {
		if step.change != nil {
			step.change()
		}
		before := computed
		value, err := kept.Get(step.key, current, func() (string, []assets.Dependency, error) {
			computed++
			deps := []assets.Dependency{{Ref: password, Version: versions[password]}}
			if step.fails {
				return "partial", deps, errors.New("failed")
			}
			return fmt.Sprint("of ", step.key), deps, nil
		})
		want := "of " + step.key
		if step.fails {
			want = "partial"
		}
		if fresh := computed > before; fresh != step.fresh || value != want || (err != nil) != step.fails {
			t.Errorf("step %d, %s: computed %v, %q, %v", i, step.what, fresh, value, err)
		}
	}
}

// An empty key does not match a result that was never computed.
func TestKeptIsEmptyAtFirst(t *testing.T) {
	var kept Kept[string]
	value, err := kept.Get("", nil, func() (string, []assets.Dependency, error) { return "computed", nil, nil })
	if value != "computed" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
}
