package budget

import (
	"math/rand/v2"
	"testing"
)

// Small claims are met in full, the sum never exceeds the total, and no larger limit would do.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 0))
	for range 1000 {
		claims, total := map[int]int{}, 0
		for i := range r.IntN(10) {
			claims[i] = r.IntN(100)
			total += claims[i]
		}
		most := r.IntN(300)
		limit := Shares(claims, most)
		sum := func(limit int) (n int) {
			for _, claim := range claims {
				n += min(claim, limit)
			}
			return n
		}
		if sum(limit) > most {
			t.Fatalf("%v of %d: limit %d takes %d", claims, most, limit, sum(limit))
		}
		if total > most && sum(limit+1) <= most {
			t.Fatalf("%v of %d: limit %d is too low", claims, most, limit)
		}
		if total <= most && sum(limit) != total {
			t.Fatalf("%v of %d: limit %d", claims, most, limit)
		}
	}
}
