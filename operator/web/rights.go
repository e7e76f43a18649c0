package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// Maximum numbers of reviews of a caller's permissions for one request, and for a stream between
// two heartbeats. Most are answered from a cache.
const (
	requestQuestions = 100
	streamQuestions  = 20
)

// errAsked is returned instead of further reviews.
var errAsked = apierrors.NewServiceUnavailable(fmt.Sprintf(
	"the operator asks at most %d questions about the permissions of the caller for one request: ask about one namespace", requestQuestions))

// Authorize returns the permissions of the caller if it may get the object; without a kind and a
// name, of any caller with a valid token. An object without a kind is a pod.
//
// Errors: 401, 403, 503 like those of an API server.
func (h *Handler) Authorize(r *http.Request, o insight.Object) (access.Rights, error) {
	rights, err := h.authorize(r, o)
	if err != nil {
		h.metrics.refused(err)
		return nil, err
	}
	return rights, nil
}

func (h *Handler) authorize(r *http.Request, o insight.Object) (access.Rights, error) {
	if h.mode == Open {
		return allPermissions{}, nil
	}
	c, err := h.identify(r)
	if err != nil {
		return nil, err
	}
	if o.Name != "" {
		err = c.get(r.Context(), o)
	}
	return c, err
}

// authorizePath returns nil if the caller may get a path that belongs to no object, such as /debug/pprof/heap.
//
// Errors: those of [Handler.Authorize].
func (h *Handler) authorizePath(r *http.Request) error {
	c, err := h.identify(r)
	if err == nil {
		err = c.getPath(r.Context(), r.URL.Path)
	}
	if err != nil {
		h.metrics.refused(err)
	}
	return err
}

// identify returns the caller of a request.
//
// Errors: 401, 429, 503 like those of an API server.
func (h *Handler) identify(r *http.Request) (*caller, error) {
	h.mu.RLock()
	reviewer := h.access
	h.mu.RUnlock()
	if reviewer == nil {
		return nil, apierrors.NewServiceUnavailable("the operator has not connected to the API server yet")
	}
	c, err := reviewer.caller(r)
	if err != nil {
		return nil, err
	}
	if err := seated(r.Context(), c); err != nil {
		h.metrics.rejected.WithLabelValues(busy).Inc()
		return nil, err
	}
	c.most = requestQuestions
	return c, nil
}

// allPermissions has all permissions. It is used in mode Open, without authentication.
type allPermissions struct{}

// May implements [access.Rights].
func (allPermissions) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return true, nil
}

// caller is the sender of a request with its permissions.
type caller struct {
	of    *reviewer
	who   user.Info
	token string

	mu    sync.Mutex
	most  int // maximum number of reviews while results are cached
	asked int
	known map[question]bool
	since time.Time // time of the first result
}

// Name returns the name of the caller.
func (c *caller) Name() string { return c.who.GetName() }

// Group returns the group that the caller counts for when capacity is scarce. A user who may create one
// ServiceAccount in a namespace may create thousands.
func (c *caller) Group() string {
	if namespace, _, err := serviceaccount.SplitUsername(c.Name()); err == nil {
		return "namespace " + namespace
	}
	return "user " + c.Name()
}

type question struct {
	verb string
	schema.GroupResource
	namespace string
}

// May implements [access.Rights]. It caches no longer than the cache of all callers. Namespaces
// are not reviewed one by one if the caller has the permission in all of them.
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
	resource, subresource, _ := strings.Cut(q.Resource, "/") // pods/proxy
	yes, err := c.review(ctx, authorizer.AttributesRecord{ResourceRequest: true, Verb: q.verb, APIGroup: q.Group, APIVersion: "*", Resource: resource, Subresource: subresource, Namespace: q.namespace})
	if err != nil {
		return false, err
	}
	c.known[q] = yes
	return yes, nil
}

// get returns nil if the caller may get an object.
//
// Errors: 403 without the permission; 503 when the API server does not respond.
func (c *caller) get(ctx context.Context, o insight.Object) error {
	of, version := resource(o.Row), "v1"
	if o.Row != nil {
		version = o.Version
	}
	yes, err := c.review(ctx, authorizer.AttributesRecord{ResourceRequest: true, Verb: "get", APIGroup: of.Group, APIVersion: version, Resource: of.Resource, Namespace: o.Namespace, Name: o.Name})
	if err != nil || yes {
		return err
	}
	return apierrors.NewForbidden(of, o.Name, fmt.Errorf("%s has no permission to get %s in namespace %q", nameOf(c.who), of.Resource, o.Namespace))
}

// getPath returns nil if the caller may get a path that belongs to no object.
//
// Errors: those of get.
func (c *caller) getPath(ctx context.Context, path string) error {
	yes, err := c.review(ctx, authorizer.AttributesRecord{Verb: "get", Path: path})
	if err != nil || yes {
		return err
	}
	return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("%s has no permission to get the nonResourceURL %q", nameOf(c.who), path))
}

// review returns the result of a review, possibly from the cache.
//
// Errors: 503 when the API server does not respond.
func (c *caller) review(ctx context.Context, about authorizer.AttributesRecord) (bool, error) {
	about.User = c.who
	decision, _, err := c.of.rights.Authorize(ctx, about)
	if decision != authorizer.DecisionAllow && err != nil {
		return false, unavailable("look up the permissions of the caller (create subjectaccessreviews)", err)
	}
	return decision == authorizer.DecisionAllow, nil
}
