package central

import (
	"sync"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
)

// relistWindow is the time after a list of objects in which targets that disappear may not have been
// deleted.
const relistWindow = 30 * time.Second

// observed are the targets of a job, which its set updates.
type observed struct {
	mu      sync.Mutex
	targets *feed.Targets
}

// put is the observer of a set.
func (o *observed) put(key targetset.Key, group *targetgroup.Group, outcomes []targets.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.targets.Put(key, group, outcomes)
}

// job is a job of a workload.
type job struct {
	livetargets.FollowedJob
	*observed
	gaps []targets.Gap // the last ones
	// listed is true if lists have the targets of this set. What an earlier set had and this one has
	// not is explained: by a change of the job, or of permissions.
	listed bool
	// tooLarge has the error of each shard on which the job has too many targets.
	tooLarge map[int]string
}

// isCentral reports whether pods get the targets of a job from here: those that are discovered in the
// own cluster, with static ones beside them. Jobs of the workload's own field come from a Secret, which
// is not read here.
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

// known reports whether the targets of the job are known: all that can be read was read, and nothing is
// missing. What the ServiceAccount may not discover is not missing.
func (j *job) known() bool {
	complete := j.Set.Complete()
	j.gaps = j.Set.AllGaps()
	for _, gap := range j.gaps {
		complete = complete && gap.State == targets.Forbidden
	}
	return complete
}

// changes returns the changes of the job's lines by shard, of all shards or of those that changed.
func (j *job) changes(now time.Time, all bool) map[int]feed.Change {
	out := map[int]feed.Change{}
	unexplained := j.listed && now.Sub(j.Set.Relisted()) < relistWindow
	j.listed = true
	j.mu.Lock()
	defer j.mu.Unlock()
	for shard := range j.Shards() {
		if !all && !j.targets.Changed(shard) {
			continue
		}
		line, n, err := j.targets.Line(shard)
		delete(j.tooLarge, shard)
		if err != nil {
			if j.tooLarge == nil {
				j.tooLarge = map[int]string{}
			}
			j.tooLarge[shard] = err.Error()
		}
		out[shard] = feed.Change{Job: j.Name, Namespace: j.Object.Namespace, Line: line, Targets: n, Unexplained: unexplained}
	}
	return out
}

// leftOut returns the numbers of targets that are on no shard: those that are too expensive to evaluate,
// and those with too many labels.
func (j *job) leftOut() (unknown, oversized int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.targets.Unknown(), j.targets.Oversized()
}
