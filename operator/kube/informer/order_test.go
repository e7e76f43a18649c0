package informer

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func object(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// set changes an order like its store does.
func set(o *order[*metav1.PartialObjectMetadata], obj *metav1.PartialObjectMetadata) {
	setIn(o, obj, false)
}

func setIn(o *order[*metav1.PartialObjectMetadata], obj *metav1.PartialObjectMetadata, release bool) {
	o.note(obj, release, func() (*metav1.PartialObjectMetadata, bool) { return obj, true })
}

func remove(o *order[*metav1.PartialObjectMetadata], obj *metav1.PartialObjectMetadata) {
	o.note(obj, false, func() (*metav1.PartialObjectMetadata, bool) { return nil, false })
}

// TestOrderIn: the objects of a namespace are those with exactly its name, also if there are names that sort before and
// after it.
func TestOrderIn(t *testing.T) {
	var o order[*metav1.PartialObjectMetadata]
	namespaces := []string{"a", "a-b", "a.b", "a0", "aa", "b", ""}
	for _, namespace := range namespaces {
		for _, name := range []string{"z", "-", "a"} {
			set(&o, object(namespace, name))
		}
	}
	for _, namespace := range append(namespaces, "none", "0", "zz") {
		var want []*metav1.PartialObjectMetadata
		for _, obj := range o.list() {
			if obj.Namespace == namespace {
				want = append(want, obj)
			}
		}
		if got := o.in(namespace); !slices.Equal(got, want) {
			t.Errorf("%q: %d objects, want %d", namespace, len(got), len(want))
		}
	}
}

func FuzzCompareKeys(f *testing.F) {
	f.Add("foo", "x", "foo-bar", "x")
	f.Add("a", "b", "a", "b")
	f.Add("", "", "a", "")
	f.Fuzz(func(t *testing.T, nsA, nameA, nsB, nameB string) {
		if strings.Contains(nsA+nsB, "/") {
			t.Skip("no namespace has a slash")
		}
		got, want := CompareKeys(object(nsA, nameA), object(nsB, nameB)), strings.Compare(nsA+"/"+nameA, nsB+"/"+nameB)
		if cmp.Compare(got, 0) != want {
			t.Errorf("CompareKeys(%q/%q, %q/%q) = %d, want %d", nsA, nameA, nsB, nameB, got, want)
		}
	})
}

// An order behaves like a map under random changes.
func TestOrderFollowsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var o order[*metav1.PartialObjectMetadata]
	model := map[string]*metav1.PartialObjectMetadata{}
	var last []*metav1.PartialObjectMetadata
	var version uint64
	for step := range 2000 {
		obj := object(fmt.Sprintf("ns-%d", random.IntN(5)), fmt.Sprintf("name-%d", random.IntN(40)))
		key := obj.Namespace + "/" + obj.Name
		if random.IntN(3) == 0 {
			remove(&o, obj)
			delete(model, key)
		} else {
			set(&o, obj)
			model[key] = obj
		}
		if random.IntN(4) != 0 {
			continue
		}
		var want []*metav1.PartialObjectMetadata
		for _, m := range model {
			want = append(want, m)
		}
		slices.SortFunc(want, func(a, b *metav1.PartialObjectMetadata) int {
			return cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
		})
		if !slices.Equal(o.list(), want) {
			t.Fatalf("step %d: the order is not that of the map", step)
		}
		if o.version == version && !slices.Equal(last, want) {
			t.Fatalf("step %d: the version does not change with the content", step)
		}
		version, last = o.version, want
		if o.list(); o.version != version {
			t.Fatalf("step %d: the version changes without the content", step)
		}
	}
}

// With release, an order keeps no earlier version of an object, does not modify returned slices, and copies
// itself once per call of list, not per change.
func TestOrderReleases(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var o order[*metav1.PartialObjectMetadata]
	model := map[string]*metav1.PartialObjectMetadata{}
	lists, copies := map[string][]*metav1.PartialObjectMetadata{}, map[string][]*metav1.PartialObjectMetadata{}
	for step := range 4000 {
		obj := object("ns", fmt.Sprintf("name-%02d", random.IntN(40)))
		release := random.IntN(3) > 0
		switch random.IntN(6) {
		case 0:
			o.note(obj, release, func() (*metav1.PartialObjectMetadata, bool) { return nil, false })
			delete(model, obj.Name)
		case 1:
			if had := model[obj.Name]; had != nil {
				obj = had // an event with the current version
			}
			fallthrough
		default:
			setIn(&o, obj, release)
			model[obj.Name] = obj
		}
		if release {
			for _, have := range o.sorted {
				if _, pending := o.changes[types.NamespacedName{Namespace: "ns", Name: have.Name}]; pending || model[have.Name] != have {
					t.Fatalf("step %d: an earlier version of %s is kept", step, have.Name)
				}
			}
		}
		if random.IntN(5) == 0 {
			list := o.list()
			want := slices.SortedFunc(maps.Values(model), func(a, b *metav1.PartialObjectMetadata) int { return cmp.Compare(a.Name, b.Name) })
			if !slices.Equal(list, want) {
				t.Fatalf("step %d: the order is not that of the map", step)
			}
			at := fmt.Sprint(step)
			lists[at], copies[at] = list, slices.Clone(list)
		}
	}
	for at := range lists {
		if !slices.Equal(lists[at], copies[at]) {
			t.Errorf("what was handed out in step %s has changed", at)
		}
	}
}

func TestOrderReleasesWithoutBeingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o order[*metav1.PartialObjectMetadata]
		setIn(&o, object("ns", "stays"), false)
		setIn(&o, object("ns", "goes"), false)
		lent := o.list()
		o.note(object("ns", "goes"), false, func() (*metav1.PartialObjectMetadata, bool) { return nil, false })
		if o.list(); len(lent) != 2 {
			t.Fatal("what was handed out has changed")
		}
		setIn(&o, object("ns", "stays"), false)
		time.Sleep(keepOld + time.Second)
		synctest.Wait()
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.changes) > 0 || o.old || o.sorted[0] == lent[1] {
			t.Error("an earlier version is kept although nobody reads the list")
		}
	})
}

// BenchmarkOrderTight measures the initial fill and a change of each object when memory is tight.
func BenchmarkOrderTight(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			objects, newer := make([]*metav1.PartialObjectMetadata, n), make([]*metav1.PartialObjectMetadata, n)
			for i := range n {
				objects[i], newer[i] = object("ns", fmt.Sprintf("name-%06d", i)), object("ns", fmt.Sprintf("name-%06d", i))
			}
			b.ReportAllocs()
			for b.Loop() {
				var o order[*metav1.PartialObjectMetadata]
				o.fill(func() []*metav1.PartialObjectMetadata { return objects })
				for _, obj := range objects {
					setIn(&o, obj, true)
				}
				o.list()
				for _, obj := range newer {
					setIn(&o, obj, true)
				}
			}
		})
	}
}

// A reconciliation can read its slice while events arrive.
func TestOrderDoesNotChangeWhatItHandedOut(t *testing.T) {
	var o order[*metav1.PartialObjectMetadata]
	first, second := object("a", "x"), object("b", "x")
	o.fill(func() []*metav1.PartialObjectMetadata { return []*metav1.PartialObjectMetadata{second, first} })
	before := o.list()
	newer := object("a", "x")
	set(&o, newer)
	set(&o, object("a", "y"))
	remove(&o, second)
	if after := o.list(); len(after) != 2 || after[0] != newer {
		t.Errorf("after the changes: %v", after)
	}
	if before[0] != first || before[1] != second {
		t.Error("an earlier slice was changed")
	}
}

// A handler that lags behind with its events does not restore old versions.
func TestOrderIsNotSetBack(t *testing.T) {
	var o order[*metav1.PartialObjectMetadata]
	old, newest := object("a", "x"), object("a", "x")
	o.note(old, false, func() (*metav1.PartialObjectMetadata, bool) { return newest, true })
	if got := o.list(); len(got) != 1 || got[0] != newest {
		t.Errorf("after an update that was overtaken: %v", got)
	}
	o.note(old, false, func() (*metav1.PartialObjectMetadata, bool) { return nil, false })
	if got := o.list(); len(got) != 0 {
		t.Errorf("after a deletion that overtook an update: %v", got)
	}
}

// TestOrderTellsWhatChanged: positions that follow the edits of an order equal those of a search through all objects,
// and unknown edits are reported as unknown.
func TestOrderTellsWhatChanged(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var o order[*metav1.PartialObjectMetadata]
	o.fill(func() []*metav1.PartialObjectMetadata { return []*metav1.PartialObjectMetadata{object("a", "1")} })
	meets := func(m *metav1.PartialObjectMetadata) bool { return m.Labels["odd"] == "1" }
	var at Positions
	var seq uint64
	again := 0
	for step := range 3000 {
		for range random.IntN(6) {
			m := object([]string{"a", "a-b", "b"}[random.IntN(3)], fmt.Sprint(random.IntN(60)))
			m.Labels = map[string]string{"odd": fmt.Sprint(random.IntN(2))}
			if random.IntN(3) == 0 {
				remove(&o, m)
			} else {
				setIn(&o, m, random.IntN(10) == 0)
			}
		}
		if random.IntN(4) == 0 {
			o.list()
		}
		if step%500 == 499 {
			for i := range 3 * mostEdits {
				set(&o, object("c", fmt.Sprint(i)))
			}
		}
		sorted, now, changed, ok := o.since(seq)
		if seq = now; ok {
			at = at.Follow(changed, func(i int) bool { return meets(sorted[i]) })
		} else {
			again++
			at = nil
		}
		var want Positions
		for i, m := range sorted {
			if meets(m) {
				want = append(want, int32(i))
			}
		}
		if ok && !slices.Equal(at, want) {
			t.Fatalf("step %d: positions %v, want %v", step, at, want)
		}
		at = want
	}
	if again == 0 || again > 10 {
		t.Errorf("the list is read again %d times", again)
	}
}
