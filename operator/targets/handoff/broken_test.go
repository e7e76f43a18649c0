package handoff

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The checker finds each fault that the machine could have, so that its checks are not vacuous.
func TestFaultsAreFound(t *testing.T) {
	three, two := []int{0, 1, 2}, []int{0, 1}
	every := func(do func(m *Machine, u *unit)) func(m *Machine) {
		return func(m *Machine) {
			for _, u := range sorted(m.units) {
				do(m, u)
			}
		}
	}
	for name, tc := range map[string]struct {
		pods   []int
		faults int
		depth  int
		only   string
		breaks func(m *Machine)
		want   string
	}{
		"switches at once": {two, 1, 5, "tick plan deliver report", every(func(m *Machine, u *unit) {
			if u.to != Nowhere {
				m.set(u, u.to, Nowhere)
			}
		}), "unserved"},
		"removes when the list is there": {two, 1, 6, "tick plan deliver report", every(func(m *Machine, u *unit) {
			if u.to != Nowhere && m.all(u.to, func(p *pod) bool { return p.version >= u.added }) {
				m.set(u, u.to, Nowhere)
			}
		}), "unserved"},
		"one replica is enough": {[]int{0, 1, 1}, 2, 9, "tick plan deliver report crash", every(func(m *Machine, u *unit) {
			if u.to == Nowhere {
				return
			}
			for _, p := range m.pods {
				if p.Shard == u.to && p.heard && p.version >= u.added {
					m.set(u, u.to, Nowhere)
					return
				}
			}
		}), "unserved"},
		"goes back without a look": {two, 3, 8, "tick plan deliver report crash restart", every(func(m *Machine, u *unit) {
			if u.to != Nowhere && u.want.Shard == u.on {
				m.set(u, u.on, Nowhere)
			}
		}), "unserved"},
		"believes old reports": {two, 3, 9, "tick plan deliver report crash restart", func(m *Machine) {
			for _, p := range m.pods {
				if p.scraped == nil && p.version > 0 {
					p.scraped = map[ID]bool{{Namespace: "n", Key: "a"}: true}
				}
			}
		}, "unserved"},
		"does not ask pods that come late": {two, 2, 9, "tick plan deliver leader hello", func(m *Machine) {
			for _, p := range m.pods {
				p.met = true
			}
		}, "unserved"},
		"does not wait for the last list": {three, 2, 10, "tick plan deliver report", every(func(_ *Machine, u *unit) { u.left = nil }), "three"},
		"forgets what is slow":            {two, 1, 9, "tick plan deliver report", func(m *Machine) { clear(m.slow) }, "oscillation"},
		"changes its mind": {two, 1, 12, "tick plan deliver report", every(func(m *Machine, u *unit) {
			if u.to == Nowhere && u.on == 1 {
				u.want.Shard = 0
				m.file(u)
			}
		}), "oscillation"},
		"never starts": {two, 1, 4, "tick plan", func(m *Machine) {
			for shard := range 2 {
				m.slow[shard] = m.now.Add(time.Hour)
			}
		}, "stuck"},
		"loses a unit": {two, 1, 4, "tick plan deliver report leader hello", every(func(m *Machine, u *unit) {
			if u.to != Nowhere {
				m.set(u, Nowhere, Nowhere)
			}
		}), "unserved"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup{pods: tc.pods, shards: 2, units: []string{"a"}, faults: tc.faults, depth: tc.depth, only: strings.Fields(tc.only)}
			s.shards = slices.Max(tc.pods) + 1
			if c := check(t, s); c.wrong != "" {
				t.Fatalf("without the fault: %s, after: %s", c.wrong, strings.Join(c.path, ", "))
			}
			s.breaks = tc.breaks
			c := check(t, s)
			if !strings.HasPrefix(c.wrong, tc.want) {
				t.Errorf("found %q after %v, want that something is %s", c.wrong, c.path, tc.want)
			}
			t.Logf("%d states, %s after: %s", c.states, c.wrong, strings.Join(c.path, ", "))
		})
	}
}
