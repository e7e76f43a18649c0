package targets

import "time"

// keptSeries is the minimum time for which an agent counts the series of a target after its last scrape. The next
// truncation of the WAL, every two hours, removes them.
const keptSeries = 5 * time.Minute

// agentSeries divides the series of an agent among its targets. It excludes the series of targets that have left the agent:
// another shard scrapes them, and counting them on both shards would make autoscaling add more.
type agentSeries struct {
	at          time.Time
	truncations uint64
	share       uint64          // series of each target
	up          map[uint64]bool // by key of the target
	gone        map[uint64]departure
}

// departure is a target that the agent no longer scrapes but whose series it still counts.
type departure struct {
	noticed time.Time
	series  uint64
}

// divide returns the number of series of each target that is up. ok is false if that is unknown.
func (s *agentSeries) divide(now time.Time, state agent, up map[uint64]bool) (share uint64, ok bool) {
	if state.truncations > s.truncations { // after the last time
		for key, d := range s.gone {
			if s.at.Sub(d.noticed) >= keptSeries {
				delete(s.gone, key)
			}
		}
	}
	if s.gone == nil {
		s.gone = map[uint64]departure{}
	}
	for key := range s.up {
		if !up[key] && len(s.gone) < maxAssessed {
			s.gone[key] = departure{now, s.share}
		}
	}
	stale := uint64(0)
	for key, d := range s.gone {
		if up[key] {
			delete(s.gone, key)
		} else {
			stale += d.series
		}
	}
	s.at, s.truncations, s.up = now, state.truncations, up
	if len(up) == 0 || stale > state.series {
		return 0, false
	}
	s.share = (state.series - stale) / uint64(len(up))
	return s.share, true
}
