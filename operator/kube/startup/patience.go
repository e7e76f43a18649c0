package startup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
)

// firstPause and longestPause are the first and the longest pause between attempts of [Insist].
const (
	firstPause   = time.Second
	longestPause = 15 * time.Second
)

// Patience is for requests without which the operator cannot start. An operator that ended because one of them failed
// would be restarted after pauses that grow to five minutes, although the API server may recover immediately.
type Patience struct {
	Log *slog.Logger

	mu      sync.Mutex
	failing int // requests that failed and are repeated
}

// Insist repeats a request until it succeeds or repeating it cannot help. nil is no patience: it makes one attempt.
//
// Errors: the API server refuses the request; its certificate is invalid; ctx ended.
func Insist[T any](ctx context.Context, p *Patience, request func() (T, error)) (T, error) {
	out, err := request()
	if p == nil || err == nil || !passes(ctx, err) {
		return out, err
	}
	p.failed(err)
	for pause := firstPause; err != nil && passes(ctx, err); pause = min(2*pause, longestPause) {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			out, err = request()
		}
	}
	if ended := context.Cause(ctx); err != nil && ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	p.done(err)
	return out, err
}

// passes reports whether a request that failed may succeed later.
func passes(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if _, certificate := errors.AsType[*tls.CertificateVerificationError](err); certificate {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	switch code := status.Status().Code; code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	default:
		return code >= http.StatusInternalServerError
	}
}

func (p *Patience) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing++; p.failing == 1 {
		p.Log.Warn("the API server does not answer, retrying", "err", err)
	}
}

func (p *Patience) done(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing--; p.failing == 0 && err == nil {
		p.Log.Info("the API server answers again")
	}
}

// server is an API server that is queried for kinds and permissions.
type server struct {
	kubernetes.Interface
	patience *Patience
}
