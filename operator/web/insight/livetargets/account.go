package livetargets

import (
	"context"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

const (
	// recheck is the time for which the result of a permission review is reused.
	recheck = time.Minute
	// recheckChanged is like recheck, after the jobs were recompiled. Only new permissions are then reviewed.
	recheckChanged = 2 * time.Second
	// longest is the timeout for the permission reviews of one workload.
	longest = 30 * time.Second
	// overdue is the age from which a request waits for a new result. Frequent requests never wait,
	// because the result is refreshed in the background before that.
	overdue = recheck + longest
)

// Permissions reviews the permissions of the ServiceAccounts of workloads for discovery.
type Permissions interface {
	// Denied returns the denied parts of the discoveries of jobs. Notes explain failed reviews.
	Denied(ctx context.Context, jobs []targets.Job, w lister.Workload) (lister.Denials, []string)
}

// account is the review state of the ServiceAccount of a workload.
type account struct {
	name    string // of the ServiceAccount
	denials lister.Denials
	notes   []string
	known   bool
	// reviewed is true if a review succeeded, so that the denials come from the API server.
	reviewed  bool
	version   int // incremented when denials are replaced
	of        *job
	since     time.Time
	reviewing chan struct{} // closed when the review is done; nil if none is running
	stop      context.CancelFunc
}

// current reports whether the denials are recent enough to use without waiting.
func (a *account) current() bool { return a.known && time.Since(a.since) < overdue }

// reviewAccount starts a review of the ServiceAccount in the background if there is no result or
// it is due for a recheck. Without a current result it waits up to [patience] and releases w.mu
// while it waits.
func (w *workload) reviewAccount(ctx context.Context) {
	a := &w.account
	if w.source.Permissions == nil || len(w.jobs) == 0 {
		return
	}
	if name := w.compiled.ServiceAccount; a.name != name { // reviewed for another one
		if a.reviewing != nil {
			a.stop()
		}
		*a = account{name: name, version: a.version + 1}
	}
	due := recheck
	if a.of != w.jobs[0] { // recompiled: jobs may discover other namespaces
		due = recheckChanged
	}
	if a.reviewing == nil && (!a.known || time.Since(a.since) >= due) {
		jobs := make([]targets.Job, len(w.jobs))
		for i, j := range w.jobs {
			jobs[i] = *j.Job
		}
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		a.reviewing, a.stop, a.of = make(chan struct{}), cancel, w.jobs[0]
		go w.review(ctx, a.reviewing, jobs, lister.Workload{Namespace: w.Namespace, ServiceAccount: w.compiled.ServiceAccount, Exists: w.exists, Before: a.denials})
	}
	if a.current() || a.reviewing == nil {
		return
	}
	reviewing := a.reviewing
	w.mu.Unlock()
	defer w.mu.Lock()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-reviewing:
	case <-wait.C:
	case <-ctx.Done():
	}
}

// review reviews the permissions, and stores the result unless a later review has superseded it. The result has the earlier
// answers for permissions that could not be reviewed.
func (w *workload) review(ctx context.Context, done chan struct{}, jobs []targets.Job, of lister.Workload) {
	denials, notes := w.source.Permissions.Denied(ctx, jobs, of)
	w.mu.Lock()
	defer w.mu.Unlock()
	defer close(done)
	a := &w.account
	if a.reviewing != done {
		return
	}
	a.stop()
	a.reviewing, a.since, a.notes = nil, time.Now(), notes
	if !a.known || !a.denials.Same(denials) {
		a.version++
	}
	a.denials, a.known = denials, true
	a.reviewed = a.reviewed || len(notes) == 0
}

// follow returns the set of a job, limited to the targets that the ServiceAccount may discover.
func (w *workload) follow(j *job) *set {
	s, a := w.sets[j], &w.account
	if s != nil && w.isCrowded(s) {
		s.Close()
		s = nil
	}
	if s != nil && s.version == a.version {
		return s
	}
	key := a.denials.Key(j.Job, w.Namespace)
	if s != nil && s.denied != key {
		s.Close()
		s = nil
	}
	if s == nil {
		allowed := func(sd *targets.KubernetesSD) (*targets.KubernetesSD, []targets.Gap) {
			return a.denials.Allowed(sd, w.Namespace)
		}
		changed, in := func() {}, targetset.Membership{Budget: w.source.crowd(), Namespace: j.object.Namespace}
		if w.source.Observe != nil {
			in.Observe, changed = w.source.Observe(w.Ref, j.object.Namespace, j.Job)
		}
		s = &set{Followed: in.Follow(w.source.Groups, j.Job, w.Namespace, allowed, changed), denied: key}
		w.sets[j] = s
	}
	s.version = a.version
	return s
}
