package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// Limits of token reviews. A client that sends unknown tokens leaves slots and reviews to known
// callers and to other addresses.
const (
	newTokensAtATime = atATime / 4
	waitingInAll     = atATime / 4
	tokenWait        = time.Second
	// knownFor is how long a valid token is cached. After allowedFor it is reviewed again in the
	// background, so that a revoked token is rejected from the next request on.
	knownFor  = time.Minute
	maxTokens = 1000
)

// addressKey is the context key of the caller's address.
type addressKey struct{}

// withAddress returns the context of a request with the caller's address.
func withAddress(r *http.Request) context.Context {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return context.WithValue(r.Context(), addressKey{}, host)
}

// reviewLimit limits concurrent token reviews in total and to one per address. Others wait for a moment.
type reviewLimit struct {
	authenticator.Token
	lanes *lanes
}

func newReviewLimit(of authenticator.Token, n int) reviewLimit {
	return reviewLimit{of, newLanes(n, n+waitingInAll, tokenWait)}
}

// AuthenticateToken implements [authenticator.Token].
func (f reviewLimit) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	address, _ := ctx.Value(addressKey{}).(string)
	leave, err := f.lanes.enter(ctx, address)
	if errors.Is(err, errFull) {
		err = apierrors.NewTooManyRequests(fmt.Sprintf("the operator asks about %d new tokens at a time", cap(f.lanes.free)), 1)
	}
	if err != nil {
		return nil, false, err
	}
	defer leave()
	return f.Token.AuthenticateToken(ctx, token)
}

// tokenCache caches valid tokens.
type tokenCache struct {
	authenticator.Token
	mu    *sync.Mutex
	known map[[sha256.Size]byte]*knownToken
}

type knownToken struct {
	response *authenticator.Response
	since    time.Time // of the last review
	asking   bool
}

func newTokenCache(of authenticator.Token) tokenCache {
	return tokenCache{of, &sync.Mutex{}, map[[sha256.Size]byte]*knownToken{}}
}

// AuthenticateToken implements [authenticator.Token].
func (m tokenCache) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	key := sha256.Sum256([]byte(token))
	m.mu.Lock()
	k := m.known[key]
	age := time.Duration(0)
	if k != nil {
		age = time.Since(k.since)
	}
	if k != nil && age < knownFor {
		if age >= allowedFor && !k.asking {
			k.asking = true
			go m.refresh(context.WithoutCancel(ctx), key, token)
		}
		m.mu.Unlock()
		return k.response, true, nil
	}
	m.mu.Unlock()
	response, ok, err := m.Token.AuthenticateToken(ctx, token)
	m.keep(key, response, ok, err)
	return response, ok, err
}

// refresh reviews the token again. If the review fails, the cached result is kept.
func (m tokenCache) refresh(ctx context.Context, key [sha256.Size]byte, token string) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	response, ok, err := m.Token.AuthenticateToken(ctx, token)
	m.keep(key, response, ok, err)
}

func (m tokenCache) keep(key [sha256.Size]byte, response *authenticator.Response, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.known[key]
	switch {
	case ok && err == nil:
		if before == nil && len(m.known) >= maxTokens {
			m.drop()
		}
		m.known[key] = &knownToken{response: response, since: time.Now()}
	case before != nil && err != nil && client.Unanswered(err):
		before.asking = false
	default:
		delete(m.known, key)
	}
}

// drop evicts the token with the oldest review.
func (m tokenCache) drop() {
	var first [sha256.Size]byte
	var oldest *knownToken
	for key, k := range m.known {
		if oldest == nil || k.since.Before(oldest.since) {
			first, oldest = key, k
		}
	}
	delete(m.known, first)
}
