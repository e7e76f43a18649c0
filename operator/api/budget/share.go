package budget

import (
	"maps"
	"slices"
)

// Shares divides most among claims: each gets what it claims, up to a common limit, which is the highest
// at which the sum is not above most. The result is that limit; claims up to it are met in full.
//
// So excess claims of one of them never reduce what others get whose claims do not exceed an equal
// part.
func Shares[K comparable](claims map[K]int, most int) (limit int) {
	sizes := slices.Sorted(maps.Values(claims))
	rest := most
	for i, size := range sizes {
		if equal := rest / (len(sizes) - i); size > equal {
			return max(0, equal)
		}
		rest -= size
	}
	return most
}
