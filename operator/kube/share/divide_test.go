package share

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func object(namespace, name string, bytes int) Object {
	return Object{Namespace: namespace, Name: name, Bytes: bytes}
}

// without returns the names of the objects that Divide leaves out.
func without(objects []Object, room int) (names []string) {
	for _, i := range Divide(objects, room) {
		names = append(names, objects[i].Namespace+"/"+objects[i].Name)
	}
	return names
}

func TestDivide(t *testing.T) {
	good := []Object{object("a", "1", 10), object("a", "2", 10), object("b", "1", 15)}
	ca := map[string]int{"ca": 50}
	for name, tc := range map[string]struct {
		objects []Object
		room    int
		want    []string
	}{
		"nothing":               {nil, 0, nil},
		"nothing, and no room":  {nil, -1, nil},
		"everything fits":       {good, 35, nil},
		"one alone":             {[]Object{object("a", "1", 100)}, 100, nil},
		"the largest of most":   {append(slices.Clone(good), object("c", "small", 10), object("c", "large", 60)), 60, []string{"c/large"}},
		"many small ones":       {[]Object{object("a", "1", 30), object("b", "1", 20), object("b", "2", 20), object("b", "3", 20)}, 70, []string{"b/1"}},
		"two that hold most":    {[]Object{object("a", "1", 10), object("b", "1", 40), object("b", "2", 30), object("c", "1", 30), object("c", "2", 35)}, 80, []string{"b/1", "c/2"}},
		"equal ones by name":    {[]Object{object("b", "2", 10), object("b", "1", 10), object("a", "1", 10), object("a", "2", 10)}, 30, []string{"a/1"}},
		"no room at all":        {good, -1, []string{"a/1", "a/2", "b/1"}},
		"a file in common":      {[]Object{{Namespace: "a", Name: "1", Files: ca}, {Namespace: "a", Name: "2", Files: ca}, object("b", "1", 50)}, 100, nil},
		"both of a common file": {[]Object{{Namespace: "a", Name: "1", Files: ca}, {Namespace: "a", Name: "2", Files: ca}, object("b", "1", 49)}, 98, []string{"a/1", "a/2"}},
	} {
		if got := without(tc.objects, tc.room); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// For any objects, the remaining ones fit, a namespace with at most an equal share loses nothing, the order of the
// objects is irrelevant, and nothing is left out unnecessarily.
func FuzzDivide(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint16(seed*50))
	}
	f.Fuzz(func(t *testing.T, seed uint64, room uint16) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var objects []Object
		held := map[string]int{}
		for i := range rng.IntN(40) {
			o := object(fmt.Sprint("n", rng.IntN(5)), fmt.Sprint(i), rng.IntN(100))
			if rng.IntN(3) == 0 {
				o.Files = map[string]int{fmt.Sprint("f", rng.IntN(3)): 70}
			}
			objects = append(objects, o)
		}
		for _, h := range holders(objects) {
			held[h.namespace] = h.bytes
		}
		out := Divide(objects, int(room))
		var rest []Object
		for i, o := range objects {
			if !slices.Contains(out, i) {
				rest = append(rest, o)
				continue
			}
			if held[o.Namespace]*len(held) <= int(room) {
				t.Errorf("%s holds %d of %d bytes among %d namespaces, and lost %s", o.Namespace, held[o.Namespace], room, len(held), o.Name)
			}
		}
		if total := Total(rest); total > int(room) && len(rest) > 0 {
			t.Errorf("%d bytes are left for %d", total, room)
		}
		if Total(objects) <= int(room) && len(out) > 0 {
			t.Errorf("everything fits, and %d are left out", len(out))
		}
		names := without(objects, int(room))
		rng.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		again := without(objects, int(room))
		slices.Sort(names)
		slices.Sort(again)
		if !slices.Equal(names, again) {
			t.Errorf("in another order %q, before %q", again, names)
		}
	})
}
