package manifests

import (
	"reflect"
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Every type that refers to a Secret or ConfigMap in the spec of a workload is in the table, and
// can be optional.
func TestReferencesAreKnown(t *testing.T) {
	seen := map[reflect.Type]bool{}
	found := map[reflect.Type]bool{}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(path, of.Elem())
		case reflect.Struct:
			if _, known := referring[of]; known {
				found[of] = true
				return
			}
			if optional, has := of.FieldByName("Optional"); has && optional.Type == reflect.TypeFor[*bool]() && !slices.Contains([]string{"FileKeySelector", "ClusterTrustBundleProjection"}, of.Name()) { // they refer to neither
				t.Errorf("%s is a %s, which is not in the table", path, of)
			}
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				walk(childOf(path, of.Field(i)), of.Field(i).Type)
			}
		}
	}
	for _, row := range catalog.All {
		if row.IsWorkload() {
			spec, _ := reflect.TypeOf(row.New()).Elem().FieldByName("Spec")
			walk(row.Kind+".spec", spec.Type)
		}
	}
	if len(found) != len(referring) {
		t.Errorf("the API has %d of the %d types of the table", len(found), len(referring))
	}
}

// Generators have the keys of their literals and files, or any.
func TestGenerators(t *testing.T) {
	got := generator{Name: "a", Literals: []string{"k=v=w", "b=c"}, Files: []string{"dir/c.yaml", "d=dir/e.yaml"}}.promise()
	if want := []string{"k", "b", "c.yaml", "d"}; !slices.Equal(got.keys, want) || got.any {
		t.Errorf("got %+v, want %q", got, want)
	}
	if got := (generator{Env: "a.env"}).promise(); !got.any {
		t.Errorf("the keys of a file of variables are not known, got %+v", got)
	}
}
