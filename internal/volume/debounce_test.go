package volume

import (
	"testing"
	"time"
)

// Bursts of events end at the expected times. The clock is in milliseconds.
func TestDebounce(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	every := func(step, n int) (at []int) {
		for i := range n {
			at = append(at, i*step)
		}
		return at
	}
	for name, tc := range map[string]struct {
		delay, settle, max int
		events             []int
		settledFrom        int // -1: never
		want               []int
	}{
		"plain folder waits for the whole delay":           {1000, 25, 10000, []int{0}, -1, []int{1000}},
		"each event starts the delay again":                {1000, 0, 10000, []int{0, 900, 1800}, 0, []int{2800}},
		"settled volume after settle":                      {1000, 25, 10000, []int{0}, 0, []int{25}},
		"events of one swap count as one":                  {1000, 25, 10000, []int{0, 1, 2, 3, 20}, 0, []int{45}},
		"an unfinished volume waits for its next event":    {1000, 25, 10000, []int{0, 100}, 90, []int{125}},
		"an unfinished volume without event gets delay":    {1000, 25, 10000, []int{0}, 90, []int{1000}},
		"ten swaps in a row make two":                      {1000, 25, 10000, every(100, 10), 0, []int{25, 900 + 105}},
		"a swap right after another waits a little longer": {1000, 25, 10000, []int{0, 40}, 0, []int{25, 40 + 105}},
		"swaps far apart are not held back":                {1000, 25, 10000, []int{0, 300, 600}, 0, []int{25, 325, 625}},
		"a burst without end is cut at max":                {1000, 0, 2000, every(100, 30), -1, []int{2000, 3900}},
		"no delay acts at once":                            {0, 0, 0, []int{0, 10}, -1, []int{0, 10}},
		"explicit delay ignores that volumes are settled":  {1000, 0, 10000, []int{0}, 0, []int{1000}},
	} {
		t.Run(name, func(t *testing.T) {
			d := debounce{delay: ms(tc.delay), settle: ms(tc.settle), max: ms(tc.max)}
			start := time.Unix(0, 0)
			var got []int
			for now := range 5000 {
				for _, e := range tc.events {
					if e == now {
						d.event(start.Add(ms(now)))
					}
				}
				if d.due(start.Add(ms(now)), func() bool { return tc.settledFrom >= 0 && now >= tc.settledFrom }) {
					got = append(got, now)
				}
			}
			if len(got) != len(tc.want) {
				t.Fatalf("handed on at %v, want %v", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Fatalf("handed on at %v, want %v", got, tc.want)
				}
			}
		})
	}
}
