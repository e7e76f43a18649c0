package balance

import (
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// Settings are the settings of a workload.
type Settings struct {
	// Weighted means that units are placed by series, and not by hash.
	Weighted bool
	// Switch is true if units leave one shard when they get to the other, without an overlap.
	Switch bool
	// ReassignAfter is the time after which a shard without a live replica is given up; 0: never.
	ReassignAfter time.Duration
}

// Balancer decides on which shards the units of a workload are. It is safe for concurrent use.
type Balancer struct {
	mu       sync.Mutex
	budget   Budget
	used     map[string]int // of it, by namespace
	settings Settings

	units   map[allocation.ID]*Unit
	numbers uint64 // of units that were created
	fresh   []*Unit
	idle    map[*Unit]bool // without targets
	changes uint64
	counted time.Time
	// measured is the sum of all series that pods have counted.
	measured uint64

	shards []allocation.Shard
	active int // number of shards, the others drain
	dead   map[int]bool
	unborn map[int]bool // new ones that had no live pod yet, so that units would not be scraped there
	fill   bool         // there are new shards
	plan   *allocation.Plan
	pace   allocation.Pace
	paced  time.Time

	machine     *handoff.Machine // nil unless it leads
	leader      uint64
	began       time.Time
	ready       bool
	frozen      bool
	pods        map[string]handoff.Pod
	inventories map[string]inventory // of pods that are not met
	heard       map[string]podReport // last reports
	unsent      map[string]unsent    // of agents, from their last inventories
	lists       map[int][]appliedVersion
	watches     map[int]*watchedUnits

	strikes map[string]int // by namespace
	struck  time.Time      // time of the first one that counts
	totals  Totals
}

// appliedVersion is a version of a list, with the version of the machine from which it was built.
type appliedVersion struct{ list, machine uint64 }

// maxApplied is the maximum number of versions of a list that are kept.
const maxApplied = 256

// New returns a Balancer without shards and units.
func New(room Budget, settings Settings) *Balancer {
	return &Balancer{budget: room, used: map[string]int{}, settings: settings, units: map[allocation.ID]*Unit{}, idle: map[*Unit]bool{}, dead: map[int]bool{}, unborn: map[int]bool{}, plan: allocation.New(nil),
		pods: map[string]handoff.Pod{}, strikes: map[string]int{}, totals: Totals{}}
}

// Lead starts deciding as the leader with this number, with the units that pods have.
func (b *Balancer) Lead(now time.Time, leader uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leader, b.began, b.ready = leader, now, false
	b.pace, b.paced, b.dead, b.unborn = allocation.Pace{}, time.Time{}, map[int]bool{}, map[int]bool{}
	b.reshape()
	b.machine = handoff.New(leader, now, handoff.Rules{ReassignAfter: b.settings.ReassignAfter})
	b.inventories, b.heard, b.unsent, b.lists, b.watches = map[string]inventory{}, map[string]podReport{}, map[string]unsent{}, map[int][]appliedVersion{}, map[int]*watchedUnits{}
}

// Leader returns the number with which the balancer leads; 0 if it does not lead.
func (b *Balancer) Leader() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leader
}

// Ready reports whether lists may be made.
func (b *Balancer) Ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ready
}

// Set changes the settings.
func (b *Balancer) Set(next Settings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if next == b.settings {
		return
	}
	b.settings = next
	if b.machine == nil {
		return
	}
	b.machine.SetRules(handoff.Rules{ReassignAfter: next.ReassignAfter})
	if !b.ready {
		return
	}
	for _, u := range b.units {
		b.want(u, allocation.Fill)
		b.refresh(u)
	}
}

// Shards replaces the shards. Those from active on are drained: they get no units, and lose their own.
func (b *Balancer) Shards(shards []allocation.Shard, active int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if active != b.active || !slices.EqualFunc(shards, b.shards, func(x, y allocation.Shard) bool { return x.Name == y.Name && x.Zone == y.Zone }) {
		for shard := b.active; shard < active; shard++ {
			b.unborn[shard] = b.ready
		}
		b.shards, b.active = slices.Clone(shards), active
		b.reshape()
	}
}

// reshape sets the shards of the plan.
func (b *Balancer) reshape() {
	for i := range b.shards {
		b.shards[i].Draining = i >= b.active || b.dead[i] || b.unborn[i]
	}
	b.plan.SetShards(b.shards)
}

// Needed returns the number of shards that have units or may have them, at least the given one.
func (b *Balancer) Needed(active int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for shard := len(b.shards); shard > active && b.ready; shard-- {
		if !b.machine.Empty(shard - 1) {
			return shard
		}
	}
	if b.ready || b.machine == nil {
		return active
	}
	for _, p := range b.pods { // their inventories are unknown
		active = max(active, p.Shard+1)
	}
	return active
}

// Pods replaces the pods. While frozen is true, they are the last known ones, and no shard is given up.
func (b *Balancer) Pods(now time.Time, pods []handoff.Pod, frozen bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frozen = frozen
	clear(b.pods)
	for _, p := range pods {
		b.pods[p.Name] = p
	}
	if b.machine == nil {
		return
	}
	b.machine.Freeze(frozen)
	b.machine.Pods(b.active, pods)
	for name := range b.heard {
		if _, is := b.pods[name]; !is {
			delete(b.heard, name)
		}
	}
	for name := range b.unsent {
		if _, is := b.pods[name]; !is {
			delete(b.unsent, name)
		}
	}
	for name, reported := range b.inventories {
		if _, is := b.pods[name]; !is && now.Sub(reported.at) > forgetAfter { // otherwise it may be new
			delete(b.inventories, name)
		}
	}
	for shard := range b.active {
		if (b.dead[shard] || b.unborn[shard]) && b.alive(shard) {
			b.fill = b.fill || b.unborn[shard] // if it returns, it waits again from the start
			delete(b.dead, shard)
			delete(b.unborn, shard)
			b.reshape()
		}
	}
}

func (b *Balancer) alive(shard int) bool {
	for _, p := range b.pods {
		if p.Shard == shard && p.Live {
			return true
		}
	}
	return false
}

// Applied records that this version of the list of a shard contains the current placement.
func (b *Balancer) Applied(shard int, version uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.machine == nil {
		return
	}
	all := b.lists[shard]
	if n := len(all); n > 0 && all[n-1].list == version {
		all[n-1].machine = b.machine.Version(shard)
		return
	}
	all = append(all, appliedVersion{version, b.machine.Version(shard)})
	b.lists[shard] = all[max(0, len(all)-maxApplied):]
}

// version returns the latest version of the machine that a version of a list certainly contains.
func (b *Balancer) version(shard int, list uint64) uint64 {
	for _, a := range slices.Backward(b.lists[shard]) {
		if a.list <= list {
			return a.machine
		}
	}
	return 0
}
