package followed

import (
	"context"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/live"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

const (
	// recheck is how long an answer about the permissions of a ServiceAccount holds.
	recheck = time.Minute
	// recheckChanged is the same after the jobs were compiled anew.
	recheckChanged = 10 * time.Second
	// longest is how long the questions about one workload may take.
	longest = 30 * time.Second
	// overdue is the age from which an answer is waited for again: who asks all the time never
	// waits, since the next answer has come by then.
	overdue = recheck + longest
)

// Permissions knows what the ServiceAccounts of workloads may not discover.
type Permissions interface {
	// Denied says it for what jobs of a workload discover. Notes say why it is not known.
	Denied(ctx context.Context, jobs []targets.Job, w live.Workload) (live.Denials, []string)
}

// account is what is known of the ServiceAccount of a workload.
type account struct {
	name    string // of the ServiceAccount
	denials live.Denials
	notes   []string
	known   bool
	version int // of denials
	of      *job
	since   time.Time
	asking  chan struct{} // closed with the answer; nil when nobody asks
	stop    context.CancelFunc
}

// current reports whether the denials hold.
func (a *account) current() bool { return a.known && time.Since(a.since) < overdue }

// askPermissions asks in the background what the ServiceAccount may do, when that is not known or
// was asked long ago. Where nothing is known that holds it waits, for a moment, during which
// others may have the lock of the workload.
func (w *workload) askPermissions(ctx context.Context) {
	a := &w.account
	if w.source.Permissions == nil || len(w.jobs) == 0 {
		return
	}
	if name := w.compiled.ServiceAccount; a.name != name { // nothing is known of this one
		if a.asking != nil {
			a.stop()
		}
		*a = account{name: name, version: a.version + 1}
	}
	due := recheck
	if a.of != w.jobs[0] { // compiled anew: jobs may discover elsewhere
		due = recheckChanged
	}
	if a.asking == nil && (!a.known || time.Since(a.since) >= due) {
		jobs := make([]targets.Job, len(w.jobs))
		for i, j := range w.jobs {
			jobs[i] = *j.Job
		}
		asking, cancel := context.WithTimeout(context.Background(), longest)
		a.asking, a.stop, a.of = make(chan struct{}), cancel, w.jobs[0]
		go w.ask(asking, a.asking, jobs, live.Workload{Namespace: w.Namespace, ServiceAccount: w.compiled.ServiceAccount})
	}
	if a.current() || a.asking == nil {
		return
	}
	asking := a.asking
	w.mu.Unlock()
	defer w.mu.Lock()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-asking:
	case <-wait.C:
	case <-ctx.Done():
	}
}

// ask keeps an answer, unless nobody waits for it any more. One that nobody gave leaves what was
// known before.
func (w *workload) ask(ctx context.Context, done chan struct{}, jobs []targets.Job, of live.Workload) {
	denials, notes := w.source.Permissions.Denied(ctx, jobs, of)
	w.mu.Lock()
	defer w.mu.Unlock()
	defer close(done)
	a := &w.account
	if a.asking != done {
		return
	}
	a.stop()
	a.asking, a.since, a.notes = nil, time.Now(), notes
	if len(notes) == 0 || !a.known {
		a.denials, a.known = denials, true
		a.version++
	}
}

// follow returns the set of a job, of what the ServiceAccount may discover.
func (w *workload) follow(j *job) *set {
	s, a := w.sets[j], &w.account
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
		s = &set{Followed: targetset.Follow(w.source.Groups, j.Job, w.Namespace, allowed, func() {}), denied: key}
		w.sets[j] = s
	}
	s.version = a.version
	return s
}
