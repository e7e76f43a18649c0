package startup

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// errNotLeading is the error of a write that was rejected because another operator may lead.
var errNotLeading = errors.New("not sent: this operator does not lead")

// errNotReleased prevents the release of the Lease, which then expires.
var errNotReleased = errors.New("not released: a write may still be under way")

// writeGrace is the maximum time that an in-flight write may take once the operator stops.
// Until its outcome is known, no other operator may start to write.
const writeGrace = 5 * time.Second

// fence lets writes pass to the API server only while this operator certainly leads. It is
// part of the HTTP client, below all code that writes, so that a process that was paused
// or waited for a response cannot write after its term.
//
//	state                       | a new write | an in-flight write
//	----------------------------|-------------|-----------------------------
//	not leading yet             | is rejected | -
//	renewed less than term ago  | is sent     | continues
//	renewed longer ago: lost    | is rejected | is canceled
//	stopping                    | is rejected | may finish
//
// A lost lead cannot be regained.
type fence struct {
	term time.Duration // validity of a renewal, from the start of its request

	mu       sync.Mutex
	until    time.Time   // end of the term; zero: not leading yet
	expiry   *time.Timer // fires at until
	stopping bool
	drained  bool // stopping, and no write is in flight
	underWay sync.WaitGroup
	lost     context.Context // canceled when the lead is lost
	lose     context.CancelFunc
}

func newFence(term time.Duration) *fence {
	f := &fence{term: term}
	f.lost, f.lose = context.WithCancel(context.Background())
	return f
}

// renewed extends the term after a renewal whose request was sent at began. The term
// counts from that time, as other replicas may count from it too.
func (f *fence) renewed(began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	until := began.Add(f.term)
	if f.drained || !until.After(f.until) {
		return
	}
	f.until = until
	if f.expiry == nil {
		f.expiry = time.AfterFunc(time.Until(until), f.expire)
		return
	}
	f.expiry.Reset(time.Until(until))
}

// expire gives up leadership if it was not renewed in time.
func (f *fence) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !time.Now().Before(f.until) && !f.drained {
		f.lose()
	}
}

// open reports whether writes may pass.
func (f *fence) open() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isOpen(time.Now())
}

// isOpen compares both the monotonic and the wall clock: the former pauses while the
// machine is suspended, the latter can be changed.
func (f *fence) isOpen(now time.Time) bool {
	return f.lost.Err() == nil && !f.stopping && now.Before(f.until) && now.Round(0).Before(f.until.Round(0))
}

// close rejects further writes and waits for in-flight ones.
func (f *fence) close() {
	f.mu.Lock()
	f.stopping = true
	f.mu.Unlock()
	f.underWay.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drained = f.lost.Err() == nil
	if f.expiry != nil {
		f.expiry.Stop()
	}
}

// mayRelease reports whether others may lead immediately, because no write of ours is in flight.
func (f *fence) mayRelease() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drained
}

// enter begins a write, and leave ends it.
//
// Errors: errNotLeading.
func (f *fence) enter() (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.isOpen(time.Now()) {
		return nil, errNotLeading
	}
	f.underWay.Add(1)
	return f.underWay.Done, nil
}

// outlive returns the context of a write. It is canceled writeGrace after parent, and
// immediately when the lead is lost.
func (f *fence) outlive(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	if deadline, ok := parent.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline)
	}
	stopped := context.AfterFunc(parent, func() { time.AfterFunc(writeGrace, cancel) })
	lost := context.AfterFunc(f.lost, cancel)
	return ctx, func() { stopped(); lost(); cancel() }
}

// wrap returns a transport that applies the fence to the requests of next.
func (f *fence) wrap(next http.RoundTripper) http.RoundTripper { return &fencedTransport{f, next} }

type fencedTransport struct {
	fence *fence
	next  http.RoundTripper
}

// WrappedRoundTripper returns the wrapped transport to client-go.
func (t *fencedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *fencedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !writes(req) {
		return t.next.RoundTrip(req)
	}
	leave, err := t.fence.enter()
	if err == nil && req.Context().Err() != nil {
		leave()
		err = context.Cause(req.Context())
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // no byte was read from it
		}
		return nil, err
	}
	defer leave()
	ctx, cancel := t.fence.outlive(req.Context())
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &canceling{resp.Body, cancel}
	return resp, nil
}

// writes reports whether a request modifies anything. SelfSubjectAccessReviews are posted but not stored.
func writes(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return !strings.HasSuffix(req.URL.Path, "/selfsubjectaccessreviews")
}

// canceling is a response body that cancels the context of its request on Close.
type canceling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *canceling) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// observedLease is a Lease that reports its renewals to the fence. The elector's writes bypass the fence.
type observedLease struct {
	resourcelock.Interface
	fence *fence
}

// Get implements resourcelock.Interface. It fails once the lead is lost.
func (w observedLease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if w.fence.lost.Err() != nil {
		return nil, nil, errLeadLost
	}
	return w.Interface.Get(ctx)
}

// Create implements resourcelock.Interface.
func (w observedLease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := time.Now()
	return w.noted(r, began, w.Interface.Create(ctx, r))
}

// Update implements resourcelock.Interface. It does not release the Lease while a write
// may be in flight; the Lease then expires.
func (w observedLease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if r.HolderIdentity == "" && !w.fence.mayRelease() {
		return errNotReleased
	}
	began := time.Now()
	return w.noted(r, began, w.Interface.Update(ctx, r))
}

func (w observedLease) noted(r resourcelock.LeaderElectionRecord, began time.Time, err error) error {
	if err == nil && r.HolderIdentity == w.Identity() {
		w.fence.renewed(began)
	}
	return err
}
