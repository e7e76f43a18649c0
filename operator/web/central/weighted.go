package central

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// silentFor is the time after which a pod that has not reported its targets is assumed to run an earlier
// release.
const silentFor = 30 * time.Second

// Reasons of Events about shards.
const (
	reasonSlow = "ShardSlow"
	reasonDead = "ShardGivenUp"
)

// Replicas are the pods of workloads.
type Replicas interface {
	// Of returns the pods in a namespace; ok is false if they are not known now.
	Of(namespace string) (pods []*corev1.Pod, ok bool)
}

// divide reads how the targets of a workload are divided among shards. An invalid annotation changes nothing.
func (w *workload) divide(c choice) {
	discovery, division, err := wellknown.ParseSharding(c.Object.GetAnnotations())
	if err != nil {
		return
	}
	w.division, w.hashing = division, discovery != wellknown.CentralDiscovery
}

// settings returns the settings of the balancer.
func (w *workload) settings() balance.Settings {
	return balance.Settings{Weighted: w.division.Weighted, Switch: w.division.Switch, ReassignAfter: w.division.ReassignAfter}
}

// restarts reports whether a workload has to be recreated, with or without a balancer. Before a balancer is removed, it moves
// the targets to the shards of their hashes, unless the servers hash them themselves.
func (w *workload) restarts() bool {
	if w.by == nil {
		return w.division.Weighted
	}
	w.by.Set(w.settings())
	return !w.division.Weighted && (w.hashing || w.by.Settled())
}

// end stops serving a workload: it drops its lists and observers, and sends no more requests to its pods.
func (r *Runner) end(w *workload) {
	r.feed.Request(w.Ref, nil)
	w.drop(r.feed)
	w.close()
	if w.by != nil {
		for event, n := range w.by.Status().Totals {
			r.ended[event] += n
		}
		w.by.Close()
	}
}

// balance makes a step of the balancer of a workload. following are its pods that have a stream, isKnown has the jobs whose
// targets are known, all is true if no job is missing for a list.
func (r *Runner) balance(now time.Time, w *workload, following []feed.Sender, isKnown map[string]bool, all bool) {
	leader := r.feed.Leader()
	if leader == 0 || w.shards == 0 {
		return
	}
	placed, isRead := r.placed(now, w)
	if !isRead {
		return
	}
	pods, ok := r.replicasOf(w)
	switch {
	case w.by.Leader() == leader && (w.serves == 0 || w.serves == w.shards):
	case !all || w.problem != "":
		return // lists could not follow
	case w.by.Leader() != leader:
		if !ok {
			return
		}
		w.by.Lead(now, leader)
		w.requested = nil
	}
	if !all && !w.by.Ready() {
		w.requested = nil // the reports of pods cannot be used yet
	}
	w.by.Pods(now, pods, !ok || r.missing != "")
	names, err := r.shardsOf(w)
	if err != nil {
		w.problem = err.Error()
		return
	}
	w.by.Shards(names, placed)
	requested := map[types.UID]time.Time{}
	for _, s := range following {
		if w.by.Admitted(string(s.UID)) {
			continue
		}
		since, before := w.requested[s.UID]
		if !before {
			since = now
		}
		if requested[s.UID] = since; now.Sub(since) >= silentFor {
			w.by.RecordInventory(now, string(s.UID), nil, false)
		}
	}
	w.requested = requested
	if w.by.Due(now) {
		var counted []balance.SeriesCount
		for _, j := range w.jobs {
			counted = append(counted, j.counted()...)
		}
		w.by.Count(now, counted)
	}
	w.by.Collect(w.unknown(isKnown))
	r.moved(now, w, w.by.Step(now))
}

// unknown returns the namespaces of objects with jobs whose targets are not all known.
func (w *workload) unknown(isKnown map[string]bool) map[string]bool {
	out := map[string]bool{}
	for name, j := range w.jobs {
		if !isKnown[name] {
			out[j.Object.Namespace] = true
		}
	}
	for _, o := range w.unread {
		out[o.Namespace] = true
	}
	return out
}

// shardsOf returns the shards of a workload, and those that still have targets.
func (r *Runner) shardsOf(w *workload) ([]allocation.Shard, error) {
	n := w.by.Needed(w.shards)
	if w.shardListOf == w.object && len(w.shardList) == n {
		return w.shardList, nil
	}
	all, err := prometheus.ShardsOf(w.object, int32(n), r.source.Options)
	if err != nil {
		return nil, err
	}
	w.shardListOf, w.shardList = w.object, nil
	for _, s := range all {
		w.shardList = append(w.shardList, allocation.Shard{Name: s.Name, Zone: s.Zone})
	}
	return w.shardList, nil
}

// replicasOf returns the pods of a workload. ok is false if they are not known.
func (r *Runner) replicasOf(w *workload) (out []handoff.Pod, ok bool) {
	all, ok := r.Replicas.Of(w.Namespace)
	for _, p := range all {
		owner, is := r.owns(p)
		if !is || owner.Shard.Workload != w.Ref || owner.Refused != "" {
			continue
		}
		shard := owner.Shard.Number
		if shard >= w.shards && p.DeletionTimestamp != nil {
			continue // it has stopped scraping, and will not return
		}
		out = append(out, handoff.Pod{Name: string(p.UID), Shard: shard, Live: p.DeletionTimestamp == nil && engine.PodReady(p)})
	}
	return out, ok
}

// owns returns the owner of the StatefulSet of a pod, with the number of its shard also for one that was kept.
func (r *Runner) owns(p *corev1.Pod) (out feed.Owner, ok bool) {
	of := metav1.GetControllerOf(p)
	if of == nil || of.Kind != "StatefulSet" {
		return out, false
	}
	set := types.NamespacedName{Namespace: p.Namespace, Name: of.Name}
	out, kept, ok := feed.OwnerOf(r.owners, set)
	return out, ok && !(kept && out.Shard.Number >= v1.MaxShards) // any user can choose the name of a StatefulSet
}

// request updates the requests to the pods of a workload. following are the pods with a stream.
func (r *Runner) request(w *workload, following []feed.Sender) {
	if w.by.Leader() == 0 {
		return
	}
	of := w.by.Watched()
	if len(of) > 0 {
		for _, j := range w.jobs {
			j.addresses(of)
		}
	}
	q := &feed.Requests{Shards: w.by.Needed(w.shards), Admitted: map[types.UID]bool{}, Watches: w.by.Watch(of)}
	for _, s := range following {
		if w.by.Admitted(string(s.UID)) {
			q.Admitted[s.UID] = true
		}
	}
	r.feed.Request(w.Ref, q)
}

// moved logs the events of moves, and records those that users should know about as Events.
func (r *Runner) moved(now time.Time, w *workload, events []handoff.Event) {
	for _, e := range events {
		switch e.Kind {
		case handoff.Slow:
			r.log.Warn("a shard does not scrape the targets that it got, and gets none for ten minutes", "reason", reasonSlow, "workload", w.Ref.String(), "shard", e.To)
			r.event(now, w, reasonSlow, "MoveTargets", fmt.Sprintf("shard %d did not scrape the targets that it got in time: it gets none for ten minutes, and they stay where they were", e.To))
		case handoff.Dead:
			r.log.Warn("a shard without ready pods is given up: its targets move to others", "reason", reasonDead, "workload", w.Ref.String(), "shard", e.From)
			r.event(now, w, reasonDead, "MoveTargets", fmt.Sprintf("shard %d has had no ready pod for too long: its targets move to other shards", e.From))
		default:
			r.log.Debug("a unit of targets changes its shard", "workload", w.Ref.String(), "event", e.Kind.String(), "namespace", e.Namespace, "unit", e.Key, "from", e.From, "to", e.To)
		}
	}
}

// balancer returns the balancer of a workload; nil if it has none.
func (r *Runner) balancer(of catalog.Ref) *balance.Balancer {
	r.balancing.Lock()
	defer r.balancing.Unlock()
	return r.balancers[of]
}

// remember updates the balancers to which reports of pods are passed.
func (r *Runner) remember() {
	next := map[catalog.Ref]*balance.Balancer{}
	for ref, w := range r.workloads {
		if w.by != nil {
			next[ref] = w.by
		}
	}
	r.balancing.Lock()
	defer r.balancing.Unlock()
	if !maps.Equal(next, r.balancers) {
		r.balancers = next
	}
}

// numbers returns the numbers of the lists.
func (w *workload) numbers() []int {
	out := []int{feed.Retired}
	for shard := range w.lines() {
		out = append(out, shard)
	}
	return out
}

// lines returns the number of lists, without that of retired shards.
func (w *workload) lines() int {
	if w.by == nil {
		return w.shards
	}
	return w.by.Needed(w.shards)
}
