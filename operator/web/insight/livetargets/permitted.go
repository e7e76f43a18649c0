package livetargets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

const (
	// maxReviewed limits the namespaces that are reviewed for one preview, since manifests can name
	// any number.
	maxReviewed = 100
	// maxReviews limits the cached reviews.
	maxReviews = 100
)

// Permitted limits a [preview.Finder] to targets that the ServiceAccount of a workload may
// discover, as [Source] does for existing workloads.
type Permitted struct {
	preview.Finder
	// Source provides the permissions and caches the reviews.
	Source *Source
	// Unknown (optional) is the reason why the permissions in the cluster do not apply.
	Unknown string
	// Patience is the maximum time to wait for a review.
	Patience time.Duration
}

// Find implements [preview.Finder].
func (p Permitted) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) ([]targets.Found, []string, error) {
	denials, notes := p.denied(ctx, jobs, lister.Workload{Namespace: w.Namespace, ServiceAccount: w.ServiceAccount})
	allowed, gaps := slices.Clone(jobs), make([][]targets.Gap, len(jobs))
	for i := range jobs {
		allowed[i].Kubernetes = nil
		for sd := range discovery.Distinct(&jobs[i]) {
			left, gap := denials.Allowed(sd, w.Namespace)
			if left != nil {
				allowed[i].Kubernetes = append(allowed[i].Kubernetes, *left)
			}
			gaps[i] = append(gaps[i], gap...)
		}
	}
	found, more, err := p.Finder.Find(ctx, allowed, w)
	for i := range found {
		found[i].Gaps = append(gaps[i], found[i].Gaps...)
	}
	return found, append(notes, more...), err
}

// denied returns the denied parts of the discoveries of jobs. Notes explain why they are not known.
func (p Permitted) denied(ctx context.Context, jobs []targets.Job, w lister.Workload) (lister.Denials, []string) {
	places, namespaces := placesOf(jobs, w.Namespace)
	unknown := func(why string) (lister.Denials, []string) {
		return lister.Denials{}, []string{fmt.Sprintf("what ServiceAccount %s/%s may discover is not known%s", w.Namespace, cmp.Or(w.ServiceAccount, "default"), why)}
	}
	switch {
	case p.Source.Permissions == nil || len(places) == 0:
		return lister.Denials{}, nil
	case p.Unknown != "":
		return unknown(": " + p.Unknown)
	case namespaces > maxReviewed:
		return unknown(fmt.Sprintf(": its jobs look into more than %d namespaces", maxReviewed))
	}
	r := p.Source.reviews.of(w.Namespace+"/"+w.ServiceAccount+"\n"+strings.Join(places, "\n"), func(r *review) {
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		defer cancel()
		r.denials, r.notes = p.Source.Permissions.Denied(ctx, jobs, w)
	})
	wait := time.NewTimer(p.Patience)
	defer wait.Stop()
	select {
	case <-r.done:
		return r.denials, slices.Clone(r.notes)
	case <-wait.C:
	case <-ctx.Done():
	}
	return unknown(" yet: ask again")
}

// placesOf returns the distinct discovery scopes of jobs and the number of their namespaces.
func placesOf(jobs []targets.Job, own string) (out []string, namespaces int) {
	var scopes []string
	for i := range jobs {
		for sd := range discovery.Distinct(&jobs[i]) {
			in := discovery.Namespaces(sd, own)
			scopes = append(scopes, in...)
			out = append(out, fmt.Sprintf("%s %+v %v", sd.Role, sd.AttachMetadata, in))
		}
	}
	slices.Sort(out)
	slices.Sort(scopes)
	return slices.Compact(out), len(slices.Compact(scopes))
}

// reviews caches reviews of ServiceAccounts by ServiceAccount and discovery scopes. They expire
// like those of workloads.
type reviews struct {
	mu  sync.Mutex
	all map[string]*review
}

// review is a result that is complete when done is closed.
type review struct {
	at      time.Time
	done    chan struct{}
	denials lister.Denials
	notes   []string
}

// of returns the cached review of key or starts one that complete fills in the background. Failed
// reviews are retried.
func (s *reviews) of(key string, complete func(*review)) *review {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for k, r := range s.all {
		if r.isDone() && (len(r.notes) > 0 || now.Sub(r.at) >= recheck) {
			delete(s.all, k)
		}
	}
	if r := s.all[key]; r != nil {
		return r
	}
	r := &review{at: now, done: make(chan struct{})}
	if !s.makeRoom() {
		r.notes = []string{"permissions of ServiceAccounts are not known: too many are asked about at a time"}
		close(r.done)
		return r
	}
	if s.all == nil {
		s.all = map[string]*review{}
	}
	s.all[key] = r
	go func() {
		defer close(r.done)
		complete(r)
	}()
	return r
}

// makeRoom evicts the oldest review if the cache is full. It reports false if all are still running.
func (s *reviews) makeRoom() bool {
	if len(s.all) < maxReviews {
		return true
	}
	oldest := ""
	for k, r := range s.all {
		if r.isDone() && (oldest == "" || r.at.Before(s.all[oldest].at)) {
			oldest = k
		}
	}
	delete(s.all, oldest)
	return oldest != ""
}

func (r *review) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
