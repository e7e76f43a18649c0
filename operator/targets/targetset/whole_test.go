package targetset

import (
	"fmt"
	"maps"
	"math/rand"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whole groups come back as they were put, in any number of sets, and no set or number stays without one.
func TestWholes(t *testing.T) {
	sets, want := make([]wholes, 3), make([]map[Key]drops, 3)
	r := rand.New(rand.NewSource(1))
	for i := range want {
		want[i] = map[Key]drops{}
	}
	for range 5000 {
		i := r.Intn(len(sets))
		key := Key{r.Intn(2), fmt.Sprintf("whole/%d/%d", r.Intn(2), r.Intn(200))}
		d := drops{int32(r.Intn(3)), int32(r.Intn(3))}
		if d.targets == 0 {
			d = drops{}
			delete(want[i], key)
		} else {
			want[i][key] = d
		}
		pages := len(sets[i].pages)
		if _, more := sets[i].put(key, d); (len(sets[i].pages)-pages)*pageBytes != more {
			t.Fatalf("%d pages, and before %d", len(sets[i].pages), pages)
		}
		if got, _ := sets[i].put(key, d); got != d {
			t.Fatalf("%v: got %v, want %v", key, got, d)
		}
	}
	for i := range sets {
		if diff := cmp.Diff(want[i], maps.Collect(sets[i].all()), cmp.AllowUnexported(drops{})); diff != "" {
			t.Error(diff)
		}
		sets[i].clear()
	}
	for prefix := range sources.of {
		if prefix == "whole/0/" || prefix == "whole/1/" {
			t.Error("numbers of", prefix, "are kept")
		}
	}
}

// The numbers of a set are released once no reader uses them.
func TestWholesOfCollectedSets(t *testing.T) {
	func() {
		s := newSet(read(t, plain, 1, 1))
		s.drop(Key{0, "collected/a"}, drops{0, 1})
		s.close()
		if len(s.Keys(nil, 10, Filter{Shard: AllShards})) != 1 {
			t.Error("a closed set cannot be read")
		}
	}()
	for late := time.Now().Add(time.Minute); ; runtime.GC() {
		if _, _, known := sources.find("collected/a"); !known {
			return
		}
		if time.Now().After(late) {
			t.Fatal("the number is kept")
		}
	}
}
