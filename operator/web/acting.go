package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// Limits of requests to servers. Pods are not trusted: every user who may create a workload controls the responses of
// its pods.
const (
	usersAtATime = 2 // one for each caller
	usersWaiting = 6
	usersWait    = 2 * time.Second
	maxAskedPods = 20
	podsAtATime  = 2
	maxHealth    = 64 << 20 // bytes that all pods of a workload may send
)

// actor sends requests to the API server with the credentials of a caller.
type actor struct {
	host  string
	agent string
	// anonymous has no credentials: not those of the operator, and not those of a caller.
	anonymous http.RoundTripper
	lanes     *lanes // of callers
}

// newActor returns an actor for the API server of cfg.
func newActor(cfg *rest.Config) (*actor, error) {
	anonymous := rest.AnonymousClientConfig(cfg)
	host, _, err := rest.DefaultServerUrlFor(anonymous)
	if err != nil {
		return nil, err
	}
	without, err := rest.TransportFor(anonymous)
	if err != nil {
		return nil, err
	}
	return &actor{host.String(), cfg.UserAgent, without, newLanes(usersAtATime, usersAtATime+usersWaiting, usersWait)}, nil
}

// servers returns access to pods with a token.
func (a *actor) servers(token string) (preview.Servers, error) {
	kube, err := promapi.Client(&rest.Config{
		Host: a.host, UserAgent: a.agent, Transport: transport.NewBearerAuthRoundTripper(token, a.anonymous),
		QPS: -1, // the lanes and the limits of pods bound it
	})
	return preview.Servers{Cluster: promapi.Cluster{Kube: kube}, MaxPods: maxAskedPods, MaxBytes: maxHealth, AtOnce: podsAtATime}, err
}

// Servers implements [insight.Acting]. The token is used for this request only.
func (c *caller) Servers(ctx context.Context) (of preview.HealthSource, release func(), err error) {
	release, err = c.of.acting.lanes.enter(ctx, c.Group())
	switch {
	case errors.Is(err, errFull):
		return nil, nil, apierrors.NewTooManyRequests("the operator asks servers for one request of a user at a time, and for few at all; load the page again", 1)
	case err != nil:
		return nil, nil, err
	}
	servers, err := c.of.acting.servers(c.token)
	if err != nil {
		release()
		return nil, nil, apierrors.NewInternalError(err)
	}
	return servers, release, nil
}

// bearerToken returns the token of a request that was authenticated with it.
func bearerToken(r *http.Request) string {
	parts := strings.SplitN(strings.TrimSpace(r.Header.Get("Authorization")), " ", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[0], "bearer") {
		return ""
	}
	return parts[1]
}
