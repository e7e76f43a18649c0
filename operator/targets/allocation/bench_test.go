package allocation_test

import (
	"fmt"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// BenchmarkPlan places all units on empty shards.
func BenchmarkPlan(b *testing.B) {
	for _, units := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, n := range []int{4, 20, 200} {
			b.Run(fmt.Sprintf("units=%d/shards=%d", units, n), func(b *testing.B) {
				distribution, on := logNormal(1, units), shards(n)
				b.ReportAllocs()
				for b.Loop() {
					p := allocation.New(on)
					p.Grow(len(distribution))
					for _, u := range distribution {
						p.Put(u)
					}
					if moves := p.Settle(allocation.Limits{}); len(moves) != units {
						b.Fatal(len(moves))
					}
				}
			})
		}
	}
}

// BenchmarkChange replaces one of a million units on 200 shards.
func BenchmarkChange(b *testing.B) {
	distribution, on := logNormal(1, 1_000_000), shards(200)
	p := planned(distribution, on)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		u := distribution[i%len(distribution)]
		p.Remove(u.ID)
		p.Put(u)
		if moves := p.Settle(allocation.Limits{}); len(moves) != 1 {
			b.Fatal(moves)
		}
	}
}

// BenchmarkShardMore adds a shard to 200 with a million units.
func BenchmarkShardMore(b *testing.B) {
	distribution, on := logNormal(1, 1_000_000), shards(200)
	more := shards(201)
	for b.Loop() {
		b.StopTimer()
		p := planned(distribution, on)
		b.StartTimer()
		p.SetShards(more)
		if moves := p.Settle(unlimited(more)); len(moves) == 0 {
			b.Fatal("nothing moves")
		}
	}
}
