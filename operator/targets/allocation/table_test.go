package allocation_test

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// BenchmarkPlacements prints the tables of the design page.
func BenchmarkPlacements(b *testing.B) {
	for b.Loop() {
		for _, t := range tables {
			b.Log("\n" + t.markdown())
		}
	}
}

const page = "../../../docs/design/2026-11-27-weighted-shards.md"

// The figures on the page are those that the code computes.
func TestTablesOfThePage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range tables {
		if testing.Short() && of.units > 10_000 {
			continue
		}
		if table := of.markdown(); !strings.Contains(string(text), table) {
			t.Errorf("%s does not have the table\n%s", page, table)
		}
	}
}

// placement returns the shard of each unit on n shards, and on one shard more.
type placement func(units []allocation.Unit, n int) (before, after []int)

var placements = []struct {
	name string
	placement
}{
	{"hash (`hashmod` of the key)", each(hashmod)},
	{"consistent hashing (1,061 partitions, 5 points, load 1.1)", consistentHashing},
	{"rendezvous hashing, by key alone", each(rendezvous)},
	{"**weighted**", weighted},
}

// each returns the placement of each key alone.
func each(shard func(key string, n int) int) placement {
	return func(units []allocation.Unit, n int) (before, after []int) {
		for _, u := range units {
			before, after = append(before, shard(u.Key, n)), append(after, shard(u.Key, n+1))
		}
		return before, after
	}
}

// hashmod is the relabel action of Prometheus.
func hashmod(key string, n int) int {
	sum := md5.Sum([]byte(key))
	return int(binary.BigEndian.Uint64(sum[8:]) % uint64(n))
}

func rendezvous(key string, n int) (best int) {
	var text [16]byte
	binary.LittleEndian.PutUint64(text[:], xxhash.Sum64String(key))
	highest := uint64(0)
	for i := range n {
		binary.LittleEndian.PutUint64(text[8:], uint64(i))
		if x := xxhash.Sum64(text[:]); x > highest {
			best, highest = i, x
		}
	}
	return best
}

// consistentHashing places partitions on a ring of shards, none of which gets more than a tenth above the
// mean, and keys by partition.
func consistentHashing(units []allocation.Unit, n int) (before, after []int) {
	const partitions, points = 1061, 5
	partition := func(n int) (out [partitions]int) {
		type point struct {
			at    uint64
			shard int
		}
		var ring []point
		for i := range n {
			for k := range points {
				ring = append(ring, point{xxhash.Sum64String(fmt.Sprint("shard-", i, "-", k)), i})
			}
		}
		slices.SortFunc(ring, func(a, b point) int { return cmp.Compare(a.at, b.at) })
		most, has := int(math.Ceil(1.1*partitions/float64(n))), make([]int, n)
		for p := range partitions {
			h := xxhash.Sum64String(fmt.Sprint(p))
			at, _ := slices.BinarySearchFunc(ring, h, func(a point, h uint64) int { return cmp.Compare(a.at, h) })
			for has[ring[at%len(ring)].shard] >= most {
				at++
			}
			out[p] = ring[at%len(ring)].shard
			has[out[p]]++
		}
		return out
	}
	was, is := partition(n), partition(n+1)
	for _, u := range units {
		p := xxhash.Sum64String(u.Key) % partitions
		before, after = append(before, was[p]), append(after, is[p])
	}
	return before, after
}

func weighted(units []allocation.Unit, n int) (before, after []int) {
	p := planned(units, shards(n))
	where := func() (out []int) {
		for _, u := range units {
			out = append(out, p.On(u.ID))
		}
		return out
	}
	before = where()
	p.SetShards(shards(n + 1))
	p.Settle(unlimited(shards(n + 1)))
	return before, where()
}

// comparison is a table: units on some numbers of shards.
type comparison struct {
	units  int
	shards []int
}

var tables = []comparison{{100_000, []int{4, 20, 200}}, {10_000, []int{20, 200}}}

// markdown returns for each placement and number of shards the part of all series that moves with one shard
// more, and the largest load by the mean, before and after it.
func (c comparison) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "| %d units |", c.units)
	units := logNormal(1, c.units)
	for _, n := range c.shards {
		fmt.Fprintf(&out, " %d shards |", n)
	}
	out.WriteString("\n|---" + strings.Repeat("|---", len(c.shards)) + "|\n| optimum |")
	for _, n := range c.shards {
		fmt.Fprintf(&out, " %.1f %%, %.2f → %.2f |", 100/float64(n+1), largest(units, n), largest(units, n+1))
	}
	out.WriteString("\n")
	for _, p := range placements {
		fmt.Fprintf(&out, "| %s |", p.name)
		for _, n := range c.shards {
			before, after := p.placement(units, n)
			var moves uint64
			for i, u := range units {
				if before[i] != after[i] {
					moves += u.Weight.Series()
				}
			}
			fmt.Fprintf(&out, " %.1f %%, %.2f → %.2f |", 100*float64(moves)/float64(total(units)), even(units, before, n), even(units, after, n+1))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// even returns the largest load by the mean of all.
func even(units []allocation.Unit, on []int, n int) float64 {
	loads := make([]uint64, n)
	for i, u := range units {
		loads[on[i]] += u.Weight.Series()
	}
	return float64(slices.Max(loads)) * float64(n) / float64(total(units))
}

// largest returns the least that the fullest shard can have: the mean, or the heaviest unit.
func largest(units []allocation.Unit, n int) float64 {
	return max(1, float64(heaviest(units))*float64(n)/float64(total(units)))
}
