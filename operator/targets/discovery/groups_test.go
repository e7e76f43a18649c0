package discovery

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Several builders that divide the objects build the same groups as one builder.
func TestGroupsOfSeveralBuilders(t *testing.T) {
	var o Objects
	addServices(func(object Object) { o.Add(object) }, 2*together)
	for _, role := range []string{roleEndpointSlice, rolePod} {
		made := map[int]any{}
		for _, builders := range []int{1, 2, 7} {
			in, err := o.informers(&targets.KubernetesSD{Role: role}, "")
			if err != nil {
				t.Fatal(err)
			}
			groups, _ := in.groupsBy(role, builders)
			if len(groups) < 2*together {
				t.Fatalf("%s: %d groups", role, len(groups))
			}
			made[builders] = groups
			if !reflect.DeepEqual(made[1], made[builders]) {
				t.Errorf("%s with %d builders:\n%s", role, builders, cmp.Diff(made[1], made[builders]))
			}
		}
	}
}
