package central

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// Reasons of Events about workloads, which the leader sends.
const (
	reasonShrink  = "SuspiciousShrink"
	reasonLeftOut = "TargetsLeftOut"
)

const (
	// quiet is the minimum time between two Events of a workload with the same reason.
	quiet = time.Minute
	// mostNamed is the maximum number of jobs that an Event or a burst of log lines names.
	mostNamed = 5
	// noteBytes is the maximum length of an Event in bytes. The API server rejects those above 1 kB, and the name of a
	// job may have a third of that.
	noteBytes = 1000
)

// shrunk reports jobs whose targets are held.
func (r *Runner) shrunk(now time.Time, w *workload, held map[feed.Shard][]feed.Suspicion) {
	var names []string
	for of, all := range held {
		for i, s := range all {
			names = append(names, s.Job)
			if i < mostNamed {
				r.log.Warn("a job lost many targets at once without deletions in the cluster: pods keep them for a while", "reason", reasonShrink,
					"workload", of.Workload.String(), "shard", of.Number, "job", s.Job, "from", s.From, "to", s.To, "until", s.Until)
			}
		}
	}
	if len(names) > 0 {
		r.event(now, w, reasonShrink, "HoldTargets", "lost many targets at once without deletions in the cluster, and pods keep them for two minutes unless they come back: "+few(names))
	}
}

// leaveOut reports jobs that now have targets in no list.
func (r *Runner) leaveOut(now time.Time, w *workload) {
	lost, fresh := map[string]bool{}, []string{}
	for _, name := range w.names() {
		n, why := w.jobs[name].lost()
		count := strconv.Itoa(n)
		if w.jobs[name].Set.Evicted() {
			count, why = "all", "they take more than the share of its namespace, so it keeps its last ones"
		}
		if why == "" {
			continue
		}
		lost[name] = true
		if w.lost[name] {
			continue
		}
		if fresh = append(fresh, name); len(fresh) <= mostNamed {
			r.log.Warn("targets of a job are in no list", "reason", reasonLeftOut, "workload", w.Ref.String(), "job", name, "targets", count, "because", why)
		}
	}
	w.lost = lost
	if len(fresh) > 0 {
		r.event(now, w, reasonLeftOut, "LeaveOutTargets", "some targets are in no list, because they are too large or too expensive; the status page of the discovery service says which: "+few(fresh))
	}
}

// largeObjects logs the objects whose targets are left out, if others than before are.
func (r *Runner) largeObjects(now time.Time) {
	all := r.source.Groups.TooLarge()
	text := ""
	if len(all) > 0 {
		text = few(all)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if text != "" && text != r.tooLarge && now.Sub(r.largeLogged) >= quiet {
		r.largeLogged = now
		r.log.Warn("objects are left out, because their targets have too many labels", "reason", reasonLeftOut, "objects", text)
	}
	r.tooLarge = text
}

// few returns some names and the number of the others.
func few(names []string) string {
	slices.Sort(names)
	return excerpt.List(slices.Compact(names), mostNamed)
}

// event sends an Event about a workload if this replica leads.
func (r *Runner) event(now time.Time, w *workload, reason, action, note string) {
	if r.Events == nil || !r.feed.Leads() || now.Sub(w.sent[reason]) < quiet {
		return
	}
	w.sent[reason] = now
	r.Events.Eventf(w.object, nil, corev1.EventTypeWarning, reason, action, "%s", excerpt.Of(note, noteBytes))
}

// lost returns the number of targets that are in no list, and why.
func (j *job) lost() (n int, why string) {
	unknown, oversized, beyond := j.leftOut()
	var reasons []string
	add := func(of int, text string) {
		if n += of; of > 0 {
			reasons = append(reasons, text)
		}
	}
	add(unknown, "its relabelings are too expensive to evaluate")
	add(oversized, "it reads more than 128 KiB of their labels")
	for _, namespace := range slices.Sorted(maps.Keys(beyond)) {
		if add(beyond[namespace].Targets, "those of namespace "+namespace+" take more than its share"); len(reasons) >= mostNamed {
			break
		}
	}
	return n, strings.Join(reasons, "; ")
}
