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

// errNotLeading refuses a write while another operator may lead.
var errNotLeading = errors.New("not sent: this operator does not lead")

// errNotReleased keeps the Lease until it runs out.
var errNotReleased = errors.New("not released: a write may still be under way")

// writeGrace is how long a write that was sent may still take once the operator stops:
// until it is known whether the API server took it, nobody else may begin.
const writeGrace = 5 * time.Second

// fence lets writes through to the API server only while this operator leads for sure.
// It stands in the HTTP client, below everything that writes: a process that was paused,
// or waited for an answer, notices there that its time is over.
//
//	state                       | a new write | a write under way
//	----------------------------|-------------|-----------------------------
//	not leading yet             | refused     |
//	renewed less than term ago  | sent        | goes on
//	renewed longer ago: lost    | refused     | is canceled
//	stopping                    | refused     | is waited for
//
// A lost lead does not come back.
type fence struct {
	term time.Duration // how long a renewal counts

	mu       sync.Mutex
	until    time.Time   // zero: not leading yet
	expiry   *time.Timer // at until
	stopping bool
	drained  bool // stopping, and no write is under way
	underWay sync.WaitGroup
	lost     context.Context // ends when the lead is lost
	lose     context.CancelFunc
}

func newFence(term time.Duration) *fence {
	f := &fence{term: term}
	f.lost, f.lose = context.WithCancel(context.Background())
	return f
}

// renewed notes a renewal whose request began at a time: since then others may count.
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

// expire is for when the last renewal is too long ago.
func (f *fence) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !time.Now().Before(f.until) && !f.drained {
		f.lose()
	}
}

// open reports whether writes are let through.
func (f *fence) open() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isOpen(time.Now())
}

// isOpen compares both clocks: one stands still while the machine sleeps, the other can
// be set.
func (f *fence) isOpen(now time.Time) bool {
	return f.lost.Err() == nil && !f.stopping && now.Before(f.until) && now.Round(0).Before(f.until.Round(0))
}

// close refuses further writes and waits for those under way.
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

// mayRelease reports whether others may lead at once, as nothing of ours can still arrive.
func (f *fence) mayRelease() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drained
}

// enter begins a write; leave ends it.
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

// outlive is the context of a write: it ends a while after parent was canceled, and at
// once when the lead is lost.
func (f *fence) outlive(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	if deadline, ok := parent.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline)
	}
	stopped := context.AfterFunc(parent, func() { time.AfterFunc(writeGrace, cancel) })
	lost := context.AfterFunc(f.lost, cancel)
	return ctx, func() { stopped(); lost(); cancel() }
}

// wrap puts the fence before a transport.
func (f *fence) wrap(next http.RoundTripper) http.RoundTripper { return &fenced{f, next} }

type fenced struct {
	fence *fence
	next  http.RoundTripper
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *fenced) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *fenced) RoundTrip(req *http.Request) (*http.Response, error) {
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
			_ = req.Body.Close() // nothing was read from it
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

// writes reports whether a request changes anything: a question about permissions is
// posted, and nothing keeps it.
func writes(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return !strings.HasSuffix(req.URL.Path, "/selfsubjectaccessreviews")
}

// canceling is the body of an answer; its request ends with it.
type canceling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *canceling) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// witnessed is a Lease whose renewals the fence learns of. The elector writes it, past
// the fence.
type witnessed struct {
	resourcelock.Interface
	fence *fence
}

// Get implements resourcelock.Interface. After a lost lead there is nothing to ask.
func (w witnessed) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if w.fence.lost.Err() != nil {
		return nil, nil, ErrLeadLost
	}
	return w.Interface.Get(ctx)
}

// Create implements resourcelock.Interface.
func (w witnessed) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := time.Now()
	return w.noted(r, began, w.Interface.Create(ctx, r))
}

// Update implements resourcelock.Interface. The Lease is not released while writes may
// arrive: then it runs out.
func (w witnessed) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if r.HolderIdentity == "" && !w.fence.mayRelease() {
		return errNotReleased
	}
	began := time.Now()
	return w.noted(r, began, w.Interface.Update(ctx, r))
}

func (w witnessed) noted(r resourcelock.LeaderElectionRecord, began time.Time, err error) error {
	if err == nil && r.HolderIdentity == w.Identity() {
		w.fence.renewed(began)
	}
	return err
}
