package web

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Questions about the permissions of a caller that one request, and that a stream between two
// heartbeats, may cause. Most are answered from a cache.
const (
	requestQuestions = 100
	streamQuestions  = 20
)

// errAsked is the answer to further questions that no cache answers.
var errAsked = apierrors.NewServiceUnavailable(fmt.Sprintf(
	"the operator asks at most %d questions about the permissions of the caller for one request: ask about one namespace", requestQuestions))

// Authorize returns the rights of the caller, if the caller may get the object; without a
// kind and a name, of any caller with a valid token. An object without a kind is a pod.
//
// Errors: 401, 403, 503 as an API server has them.
func (h *Handler) Authorize(r *http.Request, o insight.Object) (insight.Rights, error) {
	rights, err := h.authorize(r, o)
	if err != nil {
		h.metrics.refused(err)
		return nil, err
	}
	return rights, nil
}

func (h *Handler) authorize(r *http.Request, o insight.Object) (insight.Rights, error) {
	if h.mode == Open {
		return everybody{}, nil
	}
	h.mu.RLock()
	access := h.access
	h.mu.RUnlock()
	if access == nil {
		return nil, apierrors.NewServiceUnavailable("the operator has not connected to the API server yet")
	}
	c, err := access.caller(r)
	if err != nil {
		return nil, err
	}
	c.most = requestQuestions
	if o.Name != "" {
		err = c.get(r.Context(), o)
	}
	return c, err
}

// everybody are the rights of the mode Open, in which nobody is asked who he is.
type everybody struct{}

// May implements [insight.Rights].
func (everybody) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return true, nil
}

// caller is who has sent a request, and what he may do.
type caller struct {
	of  *access
	who user.Info

	mu    sync.Mutex
	most  int // questions while answers are remembered
	asked int
	known map[question]bool
	since time.Time // of the first answer
}

// Name is that of the caller.
func (c *caller) Name() string { return c.who.GetName() }

type question struct {
	verb string
	schema.GroupResource
	namespace string
}

// May implements [insight.Rights]. It does not remember longer than the cache of all callers.
// Whoever may do something in all namespaces is not asked
// about each.
func (c *caller) May(ctx context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.since) > allowedFor {
		c.since, c.asked, c.known = time.Now(), 0, map[question]bool{}
	}
	all, err := c.may(ctx, question{verb, of, ""})
	if all || namespace == "" || err != nil {
		return all, err
	}
	return c.may(ctx, question{verb, of, namespace})
}

func (c *caller) may(ctx context.Context, q question) (bool, error) {
	if yes, ok := c.known[q]; ok {
		return yes, nil
	}
	if c.asked == c.most {
		return false, errAsked
	}
	c.asked++
	yes, err := c.ask(ctx, authorizer.AttributesRecord{Verb: q.verb, APIGroup: q.Group, APIVersion: "*", Resource: q.Resource, Namespace: q.namespace})
	if err != nil {
		return false, err
	}
	c.known[q] = yes
	return yes, nil
}

// get returns nil if the caller may get an object.
//
// Errors: 403 without the permission; 503 when the API server does not answer.
func (c *caller) get(ctx context.Context, o insight.Object) error {
	of, version := resource(o.Row), "v1"
	if o.Row != nil {
		version = o.Version
	}
	yes, err := c.ask(ctx, authorizer.AttributesRecord{Verb: "get", APIGroup: of.Group, APIVersion: version, Resource: of.Resource, Namespace: o.Namespace, Name: o.Name})
	if err != nil || yes {
		return err
	}
	return apierrors.NewForbidden(of, o.Name, fmt.Errorf("%s has no permission to get %s in namespace %q", nameOf(c.who), of.Resource, o.Namespace))
}

// ask asks the API server, or remembers its answer.
//
// Errors: 503 when it does not answer.
func (c *caller) ask(ctx context.Context, about authorizer.AttributesRecord) (bool, error) {
	about.User, about.ResourceRequest = c.who, true
	decision, _, err := c.of.rights.Authorize(ctx, about)
	if decision != authorizer.DecisionAllow && err != nil {
		return false, unavailable("look up the permissions of the caller (create subjectaccessreviews)", err)
	}
	return decision == authorizer.DecisionAllow, nil
}
