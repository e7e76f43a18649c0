package central

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
)

// relistWindow is the time after a list of objects in which targets that disappear may not have been
// deleted.
const relistWindow = 30 * time.Second

// observedTargets are the targets of a job, which its set updates.
type observedTargets struct {
	mu      sync.Mutex
	targets *feed.Targets
	closed  bool
}

// put is the observer of a set.
func (o *observedTargets) put(key targetset.Key, group *targetgroup.Group, outcomes []targets.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.targets.Put(key, group, outcomes)
	}
}

// close releases the memory of the targets.
func (o *observedTargets) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		o.targets.Close()
	}
}

// job is a job of a workload.
type job struct {
	livetargets.FollowedJob
	*observedTargets
	gaps []targets.Gap // the last ones
	// listed is true if lists have the targets of this set. Targets of an earlier set that are missing in this one are
	// explained by a change of the job or of permissions.
	listed   bool
	isKnown  bool // at the last update
	begun    time.Time
	settled  time.Time // when the groups in its lines were chosen
	memory   int       // bytes that its targets may have on all shards
	reduced  []float64 // by shard: bytes that its line may have, because the list is full; 0 for no limit
	enlarged time.Time // when reduced changed last
}

const (
	// patient is the time for which the first line of a job waits for groups that fit and were not chosen yet.
	patient = 10 * time.Second
	// againAtOnce is the maximum number of groups that are put again in one step.
	againAtOnce = 1000
	// enlargeEvery is the interval at which a line that was reduced grows while its list has room, by enlargeBy.
	enlargeEvery = 30 * time.Second
	enlargeBy    = 1.25
)

// isCentral reports whether pods receive the targets of a job from the discovery service: all of them are discovered in
// the own cluster or static. Jobs of the workload's own field come from a Secret, which the service does not read.
func isCentral(j livetargets.FollowedJob) bool {
	if j.Object.Field != "" || len(j.Others) > 0 || len(j.Kubernetes) == 0 {
		return false
	}
	for sd := range discovery.Distinct(j.Job) {
		if discovery.OtherCluster(sd) != "" {
			return false
		}
	}
	return true
}

// known reports whether all targets of the job are known, except those that the ServiceAccount may not discover.
func (j *job) known() bool {
	complete := j.Set.Known()
	j.gaps = j.Set.AllGaps()
	for _, gap := range j.gaps {
		complete = complete && gap.State == targets.Forbidden
	}
	return complete
}

// settle chooses the groups in the lines of the job.
func (j *job) settle(now time.Time) {
	if now.Sub(j.settled) < every {
		return
	}
	j.mu.Lock()
	for shard := range j.targets.Shards() {
		j.targets.Limit(shard, j.limit(shard))
	}
	pending := j.targets.Pending()
	again := j.targets.Settle()
	j.mu.Unlock()
	if pending {
		j.settled = now
	}
	if len(again) > 0 {
		j.Set.Again(again[:min(len(again), againAtOnce)])
	}
}

// limit returns the size that the line of a shard may have: the list must fit, and all jobs share memory.
func (j *job) limit(shard int) int {
	limit := math.MaxInt
	if most := j.reduced[shard]; most > 0 {
		limit = int(most)
	}
	if j.memory == math.MaxInt {
		return limit
	}
	claims, total := map[int]int{}, 0
	for other := range j.targets.Shards() {
		claims[other], _ = j.targets.Size(other)
		total += claims[other]
	}
	if total > j.memory {
		limit = min(limit, budget.Shares(claims, j.memory))
	}
	return limit
}

// size returns the size of the targets on all shards.
func (j *job) size() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for shard := range j.targets.Shards() {
		all, _ := j.targets.Size(shard)
		n += all
	}
	return n
}

// waits reports whether the first lines of the job wait for the choice of its groups.
func (j *job) waits(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.listed && j.targets.Pending() && now.Sub(j.begun) < patient
}

// changes returns the changes of the job's lines by shard, of all shards or of those that changed.
func (j *job) changes(now time.Time, all bool) map[int]feed.Change {
	out := map[int]feed.Change{}
	unexplained := j.listed && now.Sub(j.Set.Relisted()) < relistWindow
	j.listed = true
	j.mu.Lock()
	defer j.mu.Unlock()
	for shard := range j.targets.Shards() {
		if all || j.targets.Changed(shard) {
			out[shard] = j.change(shard, unexplained)
		}
	}
	return out
}

// change returns the line of a shard. j.mu must be held.
func (j *job) change(shard int, unexplained bool) feed.Change {
	line, n := j.targets.Line(shard)
	return feed.Change{Job: j.Name, Namespace: j.Object.Namespace, Line: line, Targets: n, Unexplained: unexplained}
}

// placed returns the lines of a job whose targets are unknown: the last known targets, on their current shards, by hash
// or by a balancer.
func (j *job) placed(last []model.LabelSet, by *balance.Balancer, lines int) map[int]feed.Change {
	out := map[int]feed.Change{}
	all := feed.NewBalanced(j.Job, nil, j.Object.Namespace, by)
	all.Grow(lines)
	for i, labels := range last {
		group := &targetgroup.Group{Targets: []model.LabelSet{labels}}
		all.Put(targetset.Key{Source: fmt.Sprintf("%09d", i)}, group, j.Outcomes(group))
	}
	for shard := range all.Shards() {
		line, n := all.Line(shard)
		out[shard] = feed.Change{Job: j.Name, Namespace: j.Object.Namespace, Line: line, Targets: n}
	}
	all.Close()
	return out
}

// relocate puts targets that moved into the lines of their current shards. There are at least this many lines
// afterwards.
func (j *job) relocate(lines int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	j.targets.Grow(lines)
	for len(j.reduced) < j.targets.Shards() {
		j.reduced = append(j.reduced, 0)
	}
	j.targets.Relocate()
}

// counted returns the series of the targets.
func (j *job) counted() []balance.SeriesCount {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.targets.Counted()
}

// addresses adds the addresses of the targets of units.
func (j *job) addresses(of map[*balance.Unit]balance.Addresses) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.targets.Addresses(of)
}

// reduce makes the line of a shard smaller by a factor and returns it.
func (j *job) reduce(now time.Time, shard int, by float64) feed.Change {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, used := j.targets.Size(shard)
	j.reduced[shard], j.enlarged = max(1, by*float64(used)), now
	j.targets.Limit(shard, int(j.reduced[shard]))
	j.targets.Settle()
	return j.change(shard, false)
}

// enlarge lets a line that was reduced grow.
func (j *job) enlarge(now time.Time, shard int) {
	if j.reduced[shard] == 0 || now.Sub(j.enlarged) < enlargeEvery {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if all, _ := j.targets.Size(shard); j.reduced[shard]*enlargeBy > float64(all) {
		j.reduced[shard] = 0
	} else {
		j.reduced[shard] *= enlargeBy
	}
	j.enlarged = now
}

// leftOut returns the targets that are in no list: the numbers of those that are too expensive to evaluate and of those
// with too many labels, and by namespace those that exceed its share.
func (j *job) leftOut() (unknown, oversized int, beyond map[string]feed.LeftOut) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.targets.Unknown(), j.targets.Oversized(), j.targets.LeftOut()
}
