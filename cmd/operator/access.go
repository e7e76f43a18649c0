package main

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// access is one thing that may be allowed, in the whole cluster when there is
// no namespace.
type access struct{ group, resource, verb, namespace string }

// may asks the API server whether the operator is allowed to do something.
func may(ctx context.Context, kube kubernetes.Interface, a access) (bool, error) {
	review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: a.group, Resource: a.resource, Verb: a.verb, Namespace: a.namespace,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("ask for permission to %s %s: %w", a.verb, a.resource, err)
	}
	return review.Status.Allowed, nil
}
