package targetset

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// rowsOf returns the rows that a filter selects, read in pages of a few groups.
func rowsOf(s *Set, groups map[Key]*targetgroup.Group, most int, f Filter) (out []string) {
	for i, group := range s.job.Static {
		groups[staticKey(i)] = group
	}
	var after *Key
	for {
		keys := s.Keys(after, most, f)
		for _, key := range keys {
			r := s.Result(key, groups[key], f.Shard)
			for i := range r.Rows {
				if f.Selects(&r.Rows[i]) {
					out = append(out, fmt.Sprintf("%d %s %d %s %v", key.Discovery, key.Source, i, r.Rows[i].State, r.Rows[i].Shards))
				}
			}
		}
		if len(keys) < most {
			return out
		}
		after = &keys[len(keys)-1]
	}
}

// The selected rows match the counts of the set and an evaluation of all groups. Each row is
// returned once and in the same order for any page size.
func TestRowsAreWhatIsCounted(t *testing.T) {
	for _, limit := range []int{0, 3} {
		j := read(t, fmt.Sprintf(overlapping, limit), 7, 2)
		for seed := range int64(10) {
			r := rand.New(rand.NewSource(seed))
			s, groups := newSet(j), map[Key]*targetgroup.Group{}
			for i := range 8 {
				key := Key{r.Intn(2), fmt.Sprint("svc/a/", i)}
				groups[key] = randomGroup(r, key.Source)
				s.Put(key, groups[key])
			}
			counts := s.Counts()
			for _, shard := range []int{AllShards, 0, 1} {
				for _, f := range []Filter{{}, {State: targets.Kept}, {State: targets.OtherShard}, {State: targets.Dropped}, {State: targets.Dropped, Origin: "step 1"}, {Origin: "step 2"}, {Skip: "step 1"}, {State: targets.Dropped, Skip: "step 1"}, {Origin: "step", Skip: "step 2"},
					{State: targets.Kept, Origin: "step 2"}, {State: targets.Duplicate}, {State: targets.Invalid}, {State: targets.OverLimit}, {State: targets.Unknown}} {
					f.Shard = shard
					whole := rowsOf(s, groups, 1000, f)
					if len(whole) != counts.Total(f) {
						t.Errorf("limit %d, seed %d, %+v: %d rows, %d counted\n%v", limit, seed, f, len(whole), counts.Total(f), whole)
					}
					for _, most := range []int{1, 2, 3} {
						if diff := cmp.Diff(whole, rowsOf(s, groups, most, f)); diff != "" {
							t.Fatalf("parts of %d groups: %s", most, diff)
						}
					}
				}
			}
			if all := rowsOf(s, groups, 1000, Filter{Shard: AllShards}); !slices.IsSorted(keysOf(all)) {
				t.Error("not in order")
			}
		}
	}
}

// keysOf returns the rows up to the source.
func keysOf(rows []string) (out []string) {
	for _, row := range rows {
		var discovery int
		var source string
		_, _ = fmt.Sscan(row, &discovery, &source)
		out = append(out, fmt.Sprintf("%010d %s", discovery, source))
	}
	return out
}
