package feed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// The length before encoding is the length after it, for any bytes.
func TestLength(t *testing.T) {
	same := func(address string, labels map[string]string) bool {
		set := model.LabelSet{"__address__": model.LabelValue(address)}
		for name, value := range labels {
			set[model.LabelName(name)] = model.LabelValue(value)
		}
		n := length(set)
		return n == len(encode(set))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	for b := range 256 {
		if !same(string([]byte{byte(b)}), map[string]string{string([]byte{'a', byte(b), 0xe2, 0x80, 0xa8}): "\u2029\u00e9\U0001F600\xff\xfe"}) {
			t.Errorf("byte %d", b)
		}
	}
}

// put puts a pod with a label of this length, on shard 0.
func put(t *Targets, namespace string, i, size int) {
	t.Put(podKey(namespace, i), fat(i, size), []targets.Outcome{{State: targets.Kept, Shards: []int{0}}})
}

func podKey(namespace string, i int) targetset.Key {
	return targetset.Key{Source: fmt.Sprintf("pod/%s/%05d", namespace, i)}
}

func fat(i, size int) *targetgroup.Group {
	return &targetgroup.Group{Targets: []model.LabelSet{{"__address__": model.LabelValue(fmt.Sprintf("10.0.%d.%d:80", i/250, i%250)), "note": model.LabelValue(strings.Repeat("x", size))}}}
}

// encodedBytes returns the size of encoded targets in memory.
func (t *Targets) encodedBytes() (n int) {
	for _, g := range t.groups {
		for _, text := range g.encoded {
			n += len(text)
		}
	}
	return n
}

// again encodes the groups that must be encoded again.
func again(t *Targets, size map[string]int) {
	for range 10 {
		keys := t.Settle()
		for _, key := range keys {
			namespace := namespaceOf(key)
			var i int
			if _, err := fmt.Sscanf(key.Source, "pod/"+namespace+"/%d", &i); err != nil {
				panic(err)
			}
			put(t, namespace, i, size[namespace])
		}
		if len(keys) == 0 {
			return
		}
	}
	panic("it does not settle")
}

// A namespace whose targets exceed the line of a job loses those that are more than its share, before they are
// encoded. Others keep theirs, in any order of arrival. When there is room again, they come back.
func TestFairLine(t *testing.T) {
	size := map[string]int{"hostile": 100 << 10, "small": 100, "medium": 10 << 10}
	count := map[string]int{"hostile": 1000, "small": 500, "medium": 300}
	for _, order := range [][]string{{"hostile", "small", "medium"}, {"small", "medium", "hostile"}} {
		kept := newTargets(readJob(t), nil)
		for _, namespace := range order {
			for i := range count[namespace] {
				put(kept, namespace, i, size[namespace])
			}
			if n := kept.encodedBytes(); n > maxLine {
				t.Fatalf("%d bytes are kept", n)
			}
		}
		if !kept.Pending() {
			t.Error("the choice is not pending")
		}
		again(kept, size)
		line, n := kept.Line(0)
		out := kept.LeftOut()
		if len(line) > maxLine+100 || kept.encodedBytes() > maxLine || kept.Pending() {
			t.Errorf("a line of %d bytes, %d bytes are kept", len(line), kept.encodedBytes())
		}
		if names := slices.Sorted(maps.Keys(out)); !slices.Equal(names, []string{"hostile"}) || n != 1800-out["hostile"].Targets || out["hostile"].Targets > 900 {
			t.Errorf("%d targets, left out: %v", n, out)
		}
		for i := range 990 {
			kept.Put(podKey("hostile", i), nil, nil)
		}
		again(kept, size)
		if _, n := kept.Line(0); n != 810 || kept.LeftOut() != nil || kept.Pending() {
			t.Errorf("%d targets afterwards, left out: %v", n, kept.LeftOut())
		}
	}
}

// Jobs share memory: targets that exceed it are not encoded, and memory that one job releases is available to others.
func TestMemory(t *testing.T) {
	memory := &Memory{Most: 1 << 20}
	hostile, other := newTargets(readJob(t), memory), newTargets(readJob(t), memory)
	size := map[string]int{"hostile": 100 << 10, "small": 1000}
	for i := range 100 {
		put(hostile, "hostile", i, size["hostile"])
	}
	for i := range 100 {
		put(other, "small", i, size["small"])
	}
	if n := hostile.encodedBytes() + other.encodedBytes(); n > 1<<20 || memory.Used() > 1<<20 || !other.Pending() {
		t.Errorf("%d bytes are kept, %d counted", n, memory.Used())
	}
	hostile.Limit(0, 512<<10)
	again(hostile, size)
	again(other, size)
	if _, n := other.Line(0); n != 100 || other.Pending() {
		t.Errorf("the other job has %d targets", n)
	}
	if all, used := hostile.Size(0); all < 100*100<<10 || used > 512<<10 || hostile.LeftOut()["hostile"].Targets < 90 {
		t.Errorf("%d bytes of %d, left out: %v", used, all, hostile.LeftOut())
	}
	hostile.Close()
	for i := range 100 {
		other.Put(podKey("small", i), nil, nil)
	}
	if memory.Used() != 0 {
		t.Errorf("%d bytes are counted in the end", memory.Used())
	}
}

// After any sequence of changes and limits, the sums are correct, and the choice of groups converges.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	memory := &Memory{Most: 3000}
	kept := newTargets(readJob(t), memory)
	size := map[string]int{"a": 50, "b": 100, "c": 500}
	for range 3000 {
		namespace, i := []string{"a", "b", "c"}[r.IntN(3)], r.IntN(20)
		switch r.IntN(5) {
		case 0:
			kept.Put(podKey(namespace, i), nil, nil)
		case 1:
			kept.Limit(0, 200+r.IntN(5000))
		case 2:
			kept.Settle()
		default:
			kept.Put(podKey(namespace, i), fat(i, size[namespace]), []targets.Outcome{{State: targets.Kept, Shards: [][]int{{0}, {0, 1, 2}, {2}}[i%3]}})
		}
		total := 0
		for shard := range 3 {
			all, used := 0, 0
			for _, g := range kept.groups {
				all, used = all+g.sizeOn(shard), used+g.usedOn(shard)
				for _, i := range g.shards[shard] {
					if g.isIn(shard) && g.encoded[i] == nil {
						t.Fatal("a target in a line is not encoded")
					}
				}
			}
			if a, u := kept.Size(shard); a != all || u != used || used > maxLine {
				t.Fatalf("shard %d: %d of %d bytes, want %d of %d", shard, u, a, used, all)
			}
			total += used
			line, _ := kept.Line(shard)
			if len(line) > used+100 {
				t.Fatalf("a line of %d bytes, want %d", len(line), used)
			}
		}
		if int(memory.Used()) != total || total > 3000 {
			t.Fatalf("%d bytes are counted, want %d", memory.Used(), total)
		}
	}
}
