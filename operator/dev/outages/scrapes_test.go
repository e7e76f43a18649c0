package outages

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene/scenetest"
)

// interval is the scrape interval.
const interval = 3 * time.Second

// target is a target, and the life of its pod.
type target struct {
	*scenetest.Target
	from  time.Time // its pod was created
	until time.Time // its pod was deleted; zero if it was not
}

func newTarget(t *testing.T) *target { return &target{Target: scenetest.NewTarget(t)} }

// after returns the number of scrapes after a time.
func (s *target) after(at time.Time) (n int) {
	for _, one := range s.Scrapes() {
		if one.After(at) {
			n++
		}
	}
	return n
}

// span is a time in which a server is down or starts.
type span struct{ from, to time.Time }

const (
	// late is how much later than its interval a scrape may be, on a machine with other work. Without a scrape in
	// one slot, the gap is two intervals.
	late = interval - time.Second
	// restart is how long a server may need after its start until the first scrape of each target: for its
	// discovery, which passes on targets every five seconds, and for the slot of the target.
	restart = 15 * time.Second
	// reload is how long it takes at most until a server has another configuration. It then stops and starts all
	// scrape loops, as for any change of a job. On a busy machine, that takes longer than it is from one slot to the
	// next, and one scrape is lost.
	reload = 20 * time.Second
)

// gaps returns what is wrong with the scrapes of a target until now, except what restarts and reloads of its server
// explain.
func (s *target) gaps(restarts, reloads []span, now time.Time) (out []string) {
	times := s.Scrapes()
	end := now
	if !s.until.IsZero() {
		end = s.until
	}
	times = slices.DeleteFunc(times, func(at time.Time) bool { return at.After(end) })
	if len(times) == 0 {
		return []string{s.Name + " was never scraped"}
	}
	excused := func(from, to time.Time) time.Duration {
		for _, r := range restarts {
			if from.Before(r.to.Add(restart)) && to.After(r.from) {
				return r.to.Sub(r.from) + restart
			}
		}
		for _, r := range reloads {
			if from.Before(r.to) && to.After(r.from) {
				return interval
			}
		}
		return 0
	}
	for i, at := range append(times[1:], end) {
		gap := at.Sub(times[i])
		if allowed := interval + late + excused(times[i], at); gap > allowed {
			out = append(out, fmt.Sprintf("%s: no scrape for %s from %s on, allowed are %s", s.Name, gap.Round(time.Millisecond), times[i].Format("15:04:05.000"), allowed))
		}
		if gap < interval/3 && i+1 < len(times) && excused(times[i], at) == 0 {
			out = append(out, fmt.Sprintf("%s: two scrapes within %s at %s", s.Name, gap.Round(time.Millisecond), at.Format("15:04:05.000")))
		}
	}
	return out
}

// worst returns the longest gap.
func (s *target) worst() (gap time.Duration) {
	times := s.Scrapes()
	for i := 1; i < len(times); i++ {
		gap = max(gap, times[i].Sub(times[i-1]))
	}
	return gap
}
