package readers

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Reviews is the resource for checking the permissions of other users.
const Reviews = "subjectaccessreviews.authorization.k8s.io"

// Reviewer is an optional interface of a [Reader] that can check the permissions of
// ServiceAccounts.
type Reviewer interface {
	// May reports whether a ServiceAccount has a permission in a namespace, "" for all.
	//
	// Errors: those of the API server, for example when the caller may not create the review.
	May(ctx context.Context, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error)
}

// May reports whether a ServiceAccount has a permission in a namespace, "" for all, according to a
// SubjectAccessReview.
//
// Errors: those of the API server.
func May(ctx context.Context, kube kubernetes.Interface, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error) {
	review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   "system:serviceaccount:" + account.Namespace + ":" + account.Name,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: of.Group, Resource: of.Resource, Namespace: namespace,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
