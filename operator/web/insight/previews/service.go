package previews

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Limits of a preview.
const (
	maxManifests = 1 << 20
	maxGiven     = 100  // objects that affect scraping
	maxPreviewed = 1000 // targets in the response
	maxFaults    = 50   // in the response
	maxExplained = 100  // workloads with the reason why they do not use an object
	maxJobs      = 1000
	// maxRegexps is four times the limit for the expressions of one object: about 40 MB.
	maxRegexps = 2_000_000
	// maxPreviewText is the maximum total length of the jobs.
	maxPreviewText = 4 << 20
	// leastPreview and previewWeight (per byte of the manifests) determine the memory of a preview
	// for decoded manifests, regular expressions, jobs, and one object at a time.
	leastPreview  = 64 << 20
	previewWeight = 100
	// answersPart is the fraction of the memory that previews leave for other requests.
	answersPart = 0.4
	previewWait = 2 * time.Second
	// maxPreviews is the maximum number of previews, of which one is running and the others wait.
	maxPreviews = 2
)

// Parts configures a [Service].
type Parts struct {
	Reader readers.Reader
	Scopes engine.Scopes
	// Fresh returns setups with empty caches.
	Fresh   func() ([]engine.Setup, error)
	Options prometheus.Options
	// Look (optional) returns where to search for near misses of objects without targets.
	Look func(context.Context, readers.Reader) nearmiss.Look
	// Finder returns a finder for the cluster with the objects in over applied. The reader has these
	// objects too.
	Finder func(r readers.Reader, over *discovery.Objects) preview.Finder
	// Memory (optional) limits concurrent work.
	Memory *inflight.Budget
}

// Service makes previews, one at a time.
type Service struct {
	Parts

	running atomic.Int32 // or waiting
	one     *inflight.Budget
}

// New returns a Service. Without Fresh or Finder, previews are unavailable.
func New(p Parts) *Service { return &Service{Parts: p, one: inflight.New(1)} }

// enter counts a preview until leave.
//
// Errors: [apierrors.IsTooManyRequests]; unavailable if there is nothing to make previews with.
func (s *Service) enter() (leave func(), err error) {
	if s.Fresh == nil || s.Finder == nil {
		return nil, apierrors.NewServiceUnavailable("targets are not looked for here")
	}
	leave = func() { s.running.Add(-1) }
	if s.running.Add(1) > maxPreviews {
		leave()
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("the operator makes %d previews at a time", maxPreviews), 1)
	}
	return leave, nil
}

// reserve waits until no other preview is running and the memory budget has room.
//
// Errors: [apierrors.IsTooManyRequests].
func (s *Service) reserve(ctx context.Context, manifests int) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, unfinished(ctx.Err())
	}
	one, err := s.one.Take(ctx, 1, previewWait)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, unfinished(ctx.Err())
	case err != nil:
		return nil, apierrors.NewTooManyRequests("another preview is being made", 1)
	}
	if s.Memory == nil {
		return one, nil
	}
	bytes := min(max(leastPreview, previewWeight*int64(manifests)), s.Memory.Size()-int64(answersPart*float64(s.Memory.Size())))
	memory, err := s.Memory.Take(ctx, bytes, previewWait)
	if err != nil {
		one()
		return nil, apierrors.NewTooManyRequests(err.Error(), 1)
	}
	return func() { memory(); one() }, nil
}
