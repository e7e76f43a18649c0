package main

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// access is one thing that may be allowed, in the whole cluster when there is
// no namespace. A resource may be one with its subresource, "prometheuses/status".
type access struct{ group, resource, verb, namespace string }

// String is for people: "watch prometheusagents in namespace team".
func (a access) String() string {
	text := a.verb + " " + a.resource
	if a.namespace != "" {
		text += " in namespace " + a.namespace
	}
	return text
}

// questions is how many permissions are asked for at the same time: a list of
// namespaces makes many.
const questions = 8

// denied asks for several permissions and names those that are missing, in order.
func denied(ctx context.Context, kube kubernetes.Interface, needs []access) (missing []string, err error) {
	allowed := make([]bool, len(needs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(questions)
	for i, need := range needs {
		g.Go(func() (err error) {
			allowed[i], err = may(ctx, kube, need)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, need := range needs {
		if !allowed[i] {
			missing = append(missing, need.String())
		}
	}
	return missing, nil
}

// may asks the API server whether the operator is allowed to do something.
func may(ctx context.Context, kube kubernetes.Interface, a access) (bool, error) {
	resource, subresource, _ := strings.Cut(a.resource, "/")
	review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: a.group, Resource: resource, Subresource: subresource, Verb: a.verb, Namespace: a.namespace,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("check permission to %s %s: %w", a.verb, a.resource, err)
	}
	return review.Status.Allowed, nil
}
