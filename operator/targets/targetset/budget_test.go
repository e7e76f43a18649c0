package targetset

import (
	"fmt"
	"math/rand"
	"runtime"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

func podGroup(i, n int) *targetgroup.Group {
	out := &targetgroup.Group{Source: fmt.Sprint("pod/demo/", i), Labels: model.LabelSet{"app": "web"}}
	for port := range n {
		out.Targets = append(out.Targets, model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.%d.%d.%d:%d", i>>16, i>>8&255, i&255, 8000+port))})
	}
	return out
}

const plain = "- job_name: a\n  relabel_configs: [{action: keep, source_labels: [app], regex: web}]\n"

// One namespace uses the whole budget, with few large or many small sets. Another one gets as much as it needs, up to
// an equal share, and the first one loses sets until both fit. All bytes are released at the end.
func TestRoomIsShared(t *testing.T) {
	j := read(t, plain, 1, 2)
	cost := observed(j, "", nil, nil).partOf(Key{}, podGroup(0, 1), j.Outcomes(podGroup(0, 1))).bytes(2)
	room := NewBudget(int64(100 * cost))
	var hostile []*Followed
	for i := range 20 {
		f := &Followed{job: j, set: observed(j, "hostile", room, nil)}
		f.seen.Store(&countsCopy{})
		hostile = append(hostile, f)
		for k := range 10 {
			f.put(Key{0, podGroup(k, 1).Source}, podGroup(k, 1), nil)
		}
		if full := i >= 10; f.Evicted() != full {
			t.Fatalf("set %d: crowded %v", i, f.Evicted())
		}
	}
	victim := &Followed{job: j, set: observed(j, "victim", room, nil)}
	victim.seen.Store(&countsCopy{})
	for k := range 45 {
		victim.put(Key{0, podGroup(k, 1).Source}, podGroup(k, 1), nil)
	}
	if n := victim.set.kept; n != 45 || victim.Evicted() {
		t.Fatalf("the other namespace has %d targets", n)
	}
	lost := 0
	for _, f := range hostile[:10] {
		f.EvictOverShare()
		if f.Evicted() {
			if lost++; f.set.kept != 0 || len(f.Gaps()) != 1 || f.Gaps()[0].State != targets.Unknown {
				t.Errorf("an emptied set has %d targets and gaps %v", f.set.kept, f.Gaps())
			}
		}
	}
	if victim.EvictOverShare(); lost != 5 || victim.Evicted() || room.taken() > int64(100*cost) {
		t.Errorf("%d sets lost their room, %d of %d bytes are used, the other one crowded: %v", lost, room.taken(), 100*cost, victim.Evicted())
	}
	if hostile[0].Fits() {
		t.Error("there is room for an emptied set")
	}
	for _, f := range append(hostile, victim) {
		f.Close()
		f.put(Key{0, "late"}, podGroup(1, 1), nil)
	}
	if room.taken() != 0 || len(room.used) != 0 || !hostile[0].Fits() {
		t.Errorf("%d bytes are used in the end", room.taken())
	}
}

// A set always reserves as many bytes as its groups need.
func TestRoomIsGivenBack(t *testing.T) {
	j := read(t, fmt.Sprintf(overlapping, 3), 7, 3)
	for seed := range int64(50) {
		r := rand.New(rand.NewSource(seed))
		room := NewBudget(1 << 30)
		s := observed(j, "demo", room, nil)
		for range 100 {
			key := Key{r.Intn(2), fmt.Sprint(r.Intn(10))}
			if r.Intn(4) == 0 {
				s.Put(key, nil)
			} else {
				put(s, key, randomGroup(r, key.Source))
			}
			want := len(s.wholes.pages) * pageBytes
			for _, p := range s.parts {
				want += p.bytes(3)
			}
			if int64(want) != room.taken() || s.bytes != want {
				t.Fatalf("seed %d: %d bytes are taken for groups of %d", seed, room.taken(), want)
			}
		}
		if s.close(); room.taken() != 0 {
			t.Fatalf("%d bytes are left", room.taken())
		}
	}
}

// A set reserves no fewer bytes than it uses.
func TestRoomCountsMemory(t *testing.T) {
	const n = 20_000
	for _, of := range []struct{ shards, groups, targets, whole int }{{1, n, 1, 0}, {1, n / 100, 100, 0}, {8, n, 1, 0}, {1, 1, 1, n}} {
		j := read(t, plain, 1, of.shards)
		groups := make([]*targetgroup.Group, of.groups)
		for i := range groups {
			groups[i] = podGroup(i, of.targets)
		}
		wholly := func(s *Set) {
			for i := range of.whole {
				s.drop(Key{0, fmt.Sprint("demo/", i)}, drops{0, 1})
			}
		}
		first := newSet(j) // sets share the numbers of their groups
		wholly(first)
		room := NewBudget(1 << 40)
		before := heap()
		s := observed(j, "demo", room, nil)
		for _, g := range groups {
			s.Put(Key{0, g.Source}, g)
		}
		wholly(s)
		used := int64(heap() - before)
		t.Logf("%+v: %d bytes per target, counted as %d", of, used/n, room.taken()/n)
		if used > room.taken() {
			t.Errorf("%+v: %d bytes are used, and counted as %d", of, used, room.taken())
		}
		runtime.KeepAlive(s)
		runtime.KeepAlive(first)
		runtime.KeepAlive(groups)
	}
}
