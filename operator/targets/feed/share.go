package feed

import (
	"cmp"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// part is the part of a group on one shard.
type part struct {
	key  string // for the order
	size int
	put  func(in bool)
}

// admit decides which groups of a shard are in its line: all if they fit. Otherwise namespaces have equal shares, and a
// namespace with more than its share keeps its first groups.
func admit(parts map[string][]part, limit int) {
	claims := map[string]int{}
	total := 0
	for namespace, of := range parts {
		for _, p := range of {
			claims[namespace] += p.size
			total += p.size
		}
	}
	most := limit
	if total > limit {
		most = budget.Shares(claims, limit)
	}
	for namespace, of := range parts {
		if total <= limit || claims[namespace] <= most {
			for _, p := range of {
				p.put(true)
			}
			continue
		}
		slices.SortFunc(of, func(a, b part) int { return cmp.Compare(a.key, b.key) })
		taken := 0
		for _, p := range of {
			in := taken+p.size <= most
			if p.put(in); in {
				taken += p.size
			}
		}
	}
}
