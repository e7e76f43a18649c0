package livetargets

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// Jobs are the jobs of a workload, all of which are followed.
type Jobs struct {
	Jobs []FollowedJob
	// Unread are the objects that the operator accepts and whose jobs cannot be evaluated here, with the reason.
	Unread []preview.Object
	// Shards is the number of shards.
	Shards int
	// PerNode is set if each pod scrapes the targets on its own node, instead of shards.
	PerNode bool
	// ServiceAccount of the pods; empty for "default".
	ServiceAccount string
	// Error is the reason why the jobs are unknown; empty if they are known.
	Error string
	// Stale is the reason why the jobs are those of an earlier state of the workload; empty if they are not.
	Stale string
	// Notes are further remarks for the user.
	Notes []string
	// Reviewed is true if the sets are limited to what the ServiceAccount may discover. It is false
	// without [Source.Permissions], and until a review has succeeded.
	Reviewed bool
}

// FollowedJob is a job and its targets.
type FollowedJob struct {
	*targets.Job
	Object preview.Object
	Set    *targetset.Followed
}

// Jobs follows all jobs of a workload. They are followed until some time after the last call. An
// unchanged job keeps its pointer, and its set unless the permissions of the ServiceAccount change.
//
// Errors: the workload does not exist or cannot be read.
func (s *Source) Jobs(ctx context.Context, of catalog.Ref) (out Jobs, err error) {
	w := s.of(of)
	opened, err := w.open(ctx, func(*job) bool { return true })
	if err != nil {
		return out, err
	}
	for _, j := range opened.jobs {
		out.Jobs = append(out.Jobs, FollowedJob{j.Job, j.object, j.set})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Shards, out.PerNode, out.ServiceAccount, out.Error = w.compiled.Shards, w.compiled.PerNode, w.compiled.ServiceAccount, w.compiled.Error
	out.Notes = opened.notes
	if w.stale {
		out.Stale = s.refusal()
	}
	for _, source := range w.compiled.Sources() {
		if source.State == preview.Unknown && source.Object.Field == "" {
			out.Unread = append(out.Unread, source.Object)
		}
	}
	out.Reviewed = w.account.reviewed || len(out.Jobs) == 0
	return out, nil
}

// Stop stops following a workload. The next call of [Source.Jobs] starts over, with new sets.
func (s *Source) Stop(of catalog.Ref) {
	s.mu.Lock()
	w := s.workloads[of]
	s.mu.Unlock()
	if w != nil {
		w.drop()
	}
}

// Workloads returns the workloads that scrape, sorted. Notes are the reasons why some may be missing.
//
// Errors: none of their kinds can be read.
func (s *Source) Workloads(ctx context.Context) (out []explain.Candidate, notes []string, err error) {
	return s.scrapers(ctx)
}
