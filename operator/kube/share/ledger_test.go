package share

import (
	"slices"
	"testing"
)

// Each key counts with its latest size, keys to evict count until they are set to 0, and no key is evicted while all
// fit.
func TestLedger(t *testing.T) {
	l := Ledger[string]{Room: 100}
	for _, step := range []struct {
		namespace, name string
		bytes           int
		want            []string
	}{
		{"a", "1", 60, nil}, {"a", "1", 40, nil}, {"b", "1", 60, nil},
		{"a", "2", 25, []string{"a/1"}}, {"a", "1", 0, nil}, {"b", "1", 80, []string{"b/1"}},
		{"b", "1", 0, nil}, {"a", "1", 75, nil},
	} {
		key := step.namespace + "/" + step.name
		if got := l.Set(key, object(step.namespace, step.name, step.bytes)); !slices.Equal(got, step.want) {
			t.Errorf("%s with %d bytes evicts %q, want %q", key, step.bytes, got, step.want)
		}
	}
}
