package rules

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackRandomHistories replays random histories with many edge cases: file sizes
// around the limit and fractions of it, so that files move and ConfigMaps are created and
// freed. It fails if one of these never happens.
func TestPackRandomHistories(t *testing.T) {
	sizes := []byte{1, 60, 90, 127, 128, 148, 180, 181, 209, 240, 255}
	met := map[string]int{}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		var story history
		for range 40 {
			op := byte(r.IntN(12))
			if r.IntN(3) > 0 {
				op |= 128 // reconcile now
			}
			size := sizes[r.IntN(len(sizes))]
			if r.IntN(4) == 0 {
				size = 0 // remove
			}
			story = append(story, op, size, byte(r.IntN(256)))
		}
		var live []Bucket
		story.play(func(files map[string]string) {
			p := Pack(base, live, wanted(files))
			count(met, p, live)
			checkCutOff(t, live, p, files)
			live = follow(t, base, live, p, files)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, what := range []string{"created", "deleted", "moved"} {
		if met[what] < 50 {
			t.Errorf("a ConfigMap was %s %d times; the stories show too little", what, met[what])
		}
	}
	t.Log(met)
}

func count(met map[string]int, p Plan, live []Bucket) {
	for _, s := range p.Steps {
		old := slices.IndexFunc(live, func(b Bucket) bool { return b.Name == s.Name })
		switch {
		case s.Verb == Delete:
			met["deleted"]++
		case old < 0:
			met["created"]++
		}
		for name := range s.Files {
			for i, b := range live {
				if _, ok := b.Files[name]; ok && i != old {
					met["moved"]++
				}
			}
		}
	}
}
