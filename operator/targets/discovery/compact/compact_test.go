package compact

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

func group(source string, shared model.LabelSet, targets ...model.LabelSet) *targetgroup.Group {
	return &targetgroup.Group{Source: source, Labels: shared, Targets: targets}
}

// sorted returns a group as text with its targets in order.
func sorted(g *targetgroup.Group) []string {
	var out []string
	for _, t := range g.Targets {
		out = append(out, t.String())
	}
	slices.Sort(out)
	return append(out, g.Source+g.Labels.String())
}

func TestGroupsComeBack(t *testing.T) {
	var table Table
	for _, g := range []*targetgroup.Group{
		group("svc/a/b", model.LabelSet{"a": "b"}, model.LabelSet{"x": "y", "a": "x"}, model.LabelSet{}),
		group("svc/a/none", nil),
	} {
		put := table.Put(g)
		if put.Len() != len(g.Targets) || put.Source() != g.Source {
			t.Errorf("%s: %d targets", put.Source(), put.Len())
		}
		if diff := cmp.Diff(sorted(g), sorted(table.Expand(put))); diff != "" {
			t.Error(diff)
		}
	}
}

// The outline of a group has the labels that its targets share, and which of them targets hide.
func TestOutline(t *testing.T) {
	var table Table
	one := table.Put(group("a", model.LabelSet{"a": "1", "b": "2", "empty": ""}, model.LabelSet{"x": "y"}, model.LabelSet{"b": ""}))
	table.Put(group("b", model.LabelSet{"c": "3"}, model.LabelSet{"d": "4"}))
	o := targets.Outline{Shared: []string{"of another group"}, Own: []bool{true}}
	if !table.Outline(one, []model.LabelName{"a", "b", "c", "d", "empty", "x", "unused"}, &o) {
		t.Fatal("the group does not exist")
	}
	want := targets.Outline{Targets: 2, Shared: []string{"1", "2", "", "", "", "", ""}, Own: []bool{false, true, false, false, false, true, false}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	if table.Drop(one); table.Outline(one, nil, &o) || table.Outline(nil, nil, &o) {
		t.Error("a group that was dropped has an outline")
	}
}

// Builders iterate over maps: the order of targets is irrelevant.
func TestEqualGroups(t *testing.T) {
	var table Table
	one, two := model.LabelSet{"a": "1"}, model.LabelSet{"a": "2", "b": "1"}
	put := table.Put(group("a", one, one, two))
	if !table.Equal(put, table.Put(group("a", one, two, one))) {
		t.Error("the order of targets matters")
	}
	for _, other := range []*targetgroup.Group{group("a", one, one), group("a", two, one, two), group("a", one, two, two)} {
		if table.Equal(put, table.Put(other)) {
			t.Errorf("equal to %v", other)
		}
	}
	if table.Equal(put, nil) || !table.Equal(nil, nil) {
		t.Error("no group is equal to no group only")
	}
}

// Constantly changing labels do not make the table grow, and groups stay valid when it is rebuilt.
func TestTableIsRebuilt(t *testing.T) {
	var table Table
	r := rand.New(rand.NewSource(1))
	groups, want := map[string]*Group{}, map[string]*targetgroup.Group{}
	most := 0
	for i := range 20_000 {
		source := fmt.Sprint(r.Intn(50))
		before := groups[source]
		if r.Intn(10) == 0 {
			delete(groups, source)
			delete(want, source)
		} else {
			var targets []model.LabelSet
			for n := range r.Intn(5) {
				targets = append(targets, model.LabelSet{"address": model.LabelValue(fmt.Sprint(i, n)), "n": model.LabelValue(fmt.Sprint(n))})
			}
			want[source] = group(source, model.LabelSet{"v": model.LabelValue(fmt.Sprint("v", i))}, targets...)
			groups[source] = table.Put(want[source])
		}
		table.Drop(before)
		if table.Expand(before) != nil {
			t.Fatal("a dropped group can be read")
		}
		most = max(most, table.Len())
	}
	for source, g := range groups {
		if diff := cmp.Diff(sorted(want[source]), sorted(table.Expand(g))); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
		if !table.Equal(g, table.Put(want[source])) {
			t.Errorf("%s: the order of its targets changed", source)
		}
	}
	if most > 2*fewest {
		t.Errorf("%d strings for about 200", most)
	}
}

// The memory of a table does not depend on the length of the strings that a group had before: one object with a
// large label that changes often would fill it beside many groups that do not change.
func TestOldStringsAreForgotten(t *testing.T) {
	var table Table
	for i := range 5 * fewest { // as many may be garbage
		table.Put(group(fmt.Sprint(i), nil, model.LabelSet{"address": model.LabelValue(fmt.Sprint(i))}))
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const size = 256 << 10
	before := heap()
	var last *Group
	for i := range 1000 {
		next := table.Put(group("changes", model.LabelSet{"note": model.LabelValue(strings.Repeat(fmt.Sprintf("%04d", i), size/4))}))
		table.Drop(last)
		last = next
	}
	if more := int64(heap() - before); more > 4*size {
		t.Errorf("%d KiB more after 1000 changes of %d KiB", more>>10, size>>10)
	}
	if n := len(table.Expand(last).Labels["note"]); n != size {
		t.Errorf("the last one has %d bytes", n)
	}
	if table.Len() > 5*fewest+20 {
		t.Errorf("%d indices", table.Len())
	}
}
