package informer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func object(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// changes of an order, as its store makes them.
func set(o *order[*metav1.PartialObjectMetadata], obj *metav1.PartialObjectMetadata) {
	o.note(obj, false, func() (*metav1.PartialObjectMetadata, bool) { return obj, true })
}

func remove(o *order[*metav1.PartialObjectMetadata], obj *metav1.PartialObjectMetadata) {
	o.note(obj, false, func() (*metav1.PartialObjectMetadata, bool) { return nil, false })
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

// TestOrderFollowsAMap plays random changes against a map.
func TestOrderFollowsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var o order[*metav1.PartialObjectMetadata]
	model := map[string]*metav1.PartialObjectMetadata{}
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
	}
}

// TestOrderDoesNotChangeWhatItHandedOut: a pass reads its slice while events arrive.
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

// TestOrderIsNotSetBack: a handler that is behind with its events tells of
// versions that are gone.
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
