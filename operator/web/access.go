package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// Values of --web.api.
const (
	Off           = "off"
	Authenticated = "authenticated"
	Open          = "open"
)

// How long results of reviews are cached, and limits of requests for reviews.
const (
	allowedFor    = 10 * time.Second
	deniedFor     = 2 * time.Second
	reviewTimeout = 5 * time.Second
	reviewQPS     = 50
	reviewBurst   = 100
)

// reviewer authenticates and authorizes callers.
type reviewer struct {
	callers authenticator.Request
	rights  authorizer.Authorizer
	acting  *actor
}

// newReviewer returns a reviewer that sends reviews to the API server of cfg, with its own client and
// rate limit.
func newReviewer(cfg *rest.Config) (*reviewer, error) {
	acting, err := newActor(cfg)
	if err != nil {
		return nil, err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst, cfg.RateLimiter = reviewQPS, reviewBurst, nil
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	tokens, err := newTokens(kube)
	if err != nil {
		return nil, err
	}
	rights, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: kube.AuthorizationV1(), AllowCacheTTL: allowedFor, DenyCacheTTL: deniedFor,
		WebhookRetryBackoff: twice(),
	}.New()
	if err != nil {
		return nil, err
	}
	// The cache calls its authenticator without the context of the request, which has the caller's
	// address: it must be the innermost one.
	few := newReviewLimit(cache.New(tokens, false, allowedFor, deniedFor), newTokensAtATime)
	callers := group.NewAuthenticatedGroupAdder(bearertoken.New(newTokenCache(few)))
	return &reviewer{callers, rights, acting}, nil
}

// newTokens returns an authenticator that sends TokenReviews to an API server.
func newTokens(kube kubernetes.Interface) (authenticator.Token, error) {
	return webhook.NewFromInterface(kube.AuthenticationV1(), nil, *twice(), reviewTimeout, webhook.AuthenticatorMetrics{
		RecordRequestTotal:   func(context.Context, string) {},
		RecordRequestLatency: func(context.Context, string, float64) {},
	})
}

// twice is the backoff of a request that is retried once.
func twice() *wait.Backoff { return &wait.Backoff{Duration: 100 * time.Millisecond, Steps: 2} }

// errNoToken does not reveal which objects exist.
var errNoToken = apierrors.NewUnauthorized("no valid bearer token: send the header Authorization: Bearer TOKEN, for example with a token of kubectl create token")

// caller returns the sender of a request. Errors, like those of an API server: 401 without a valid token; 503 when the
// API server does not respond.
func (a *reviewer) caller(r *http.Request) (*caller, error) {
	// The authenticator removes the header, but the request may be authenticated again.
	only := &http.Request{Header: http.Header{"Authorization": r.Header["Authorization"]}}
	who, known, err := a.callers.AuthenticateRequest(only.WithContext(withAddress(r)))
	switch {
	case known && err == nil:
		return &caller{of: a, who: who.User, token: bearerToken(r)}, nil
	case apierrors.IsTooManyRequests(err):
		return nil, err
	case client.Unanswered(err):
		return nil, unavailable("authenticate the caller (create tokenreviews)", err)
	}
	return nil, errNoToken
}

func nameOf(u user.Info) string {
	if u.GetName() == "" {
		return "the caller"
	}
	return fmt.Sprintf("user %q", u.GetName())
}

func unavailable(what string, err error) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("the operator cannot %s: %v", what, err))
}
