package startup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Permission is a verb on a resource, in the whole cluster if Namespace is empty.
// Resource may include a subresource: "prometheuses/status".
type Permission struct{ Group, Resource, Verb, Namespace string }

// Permissions returns a permission for each combination of namespace and verb.
func Permissions(group, resource string, namespaces []string, verbs ...string) []Permission {
	var out []Permission
	for _, namespace := range namespaces {
		for _, verb := range verbs {
			out = append(out, Permission{group, resource, verb, namespace})
		}
	}
	return out
}

// Require checks permissions, with patience.
//
// Errors: *[MissingError]; those of [Insist].
func Require(ctx context.Context, kube kubernetes.Interface, patience *Patience, needs []Permission) error {
	missing, err := denied(ctx, server{kube, patience}, needs)
	if err == nil && len(missing) > 0 {
		err = &MissingError{summary(missing)}
	}
	return err
}

// MissingError means that permissions are missing.
type MissingError struct{ Permissions string }

// Error implements error: "no permission to list pods in namespace a".
func (e *MissingError) Error() string { return "no permission to " + e.Permissions }

// summary formats permissions for messages: "list, watch prometheusagents in namespaces
// one, two; get nodes". Verbs on one resource in one namespace must be adjacent.
func summary(all []Permission) string {
	type row struct{ resource, verbs, namespace string }
	var rows []row
	for _, a := range all {
		if n := len(rows); n > 0 && rows[n-1].resource == a.Resource && rows[n-1].namespace == a.Namespace {
			rows[n-1].verbs += ", " + a.Verb
			continue
		}
		rows = append(rows, row{a.Resource, a.Verb, a.Namespace})
	}
	var texts []string
	namespaces := map[string][]string{}
	for _, r := range rows {
		text := r.verbs + " " + r.resource
		if _, seen := namespaces[text]; !seen {
			texts = append(texts, text)
		}
		namespaces[text] = append(namespaces[text], r.namespace)
	}
	for i, text := range texts {
		switch in := namespaces[text]; {
		case in[0] == "":
		case len(in) == 1:
			texts[i] += " in namespace " + in[0]
		default:
			texts[i] += " in namespaces " + strings.Join(in, ", ")
		}
	}
	return strings.Join(texts, "; ")
}

// questions limits the number of concurrent access reviews, because a list of namespaces
// needs many.
const questions = 8

// denied returns the permissions that are missing, in order. It first checks the whole
// cluster for those that are needed in several namespaces.
func denied(ctx context.Context, kube server, needs []Permission) (missing []Permission, err error) {
	count := map[Permission]int{} // number of namespaces
	for _, need := range needs {
		count[need.everywhere()]++
	}
	broad := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(a Permission) bool { return count[a] < 2 })
	granted, err := allowed(ctx, kube, broad)
	if err != nil {
		return nil, err
	}
	narrow := slices.DeleteFunc(slices.Clone(needs), func(a Permission) bool { return granted[a.everywhere()] })
	if granted, err = allowed(ctx, kube, narrow); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(narrow, func(a Permission) bool { return granted[a] }), nil
}

// everywhere returns the same permission for the whole cluster.
func (a Permission) everywhere() Permission {
	a.Namespace = ""
	return a
}

// allowed checks each permission with an access review.
func allowed(ctx context.Context, kube server, all []Permission) (map[Permission]bool, error) {
	answers := make([]bool, len(all))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(questions)
	for i, a := range all {
		g.Go(func() (err error) {
			answers[i], err = Insist(ctx, kube.patience, func() (bool, error) { return may(ctx, kube, a) })
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := map[Permission]bool{}
	for i, a := range all {
		out[a] = answers[i]
	}
	return out, nil
}

// may checks a permission with an access review.
func may(ctx context.Context, kube kubernetes.Interface, a Permission) (bool, error) {
	name := ""
	if a.Resource == "namespaces" {
		name = a.Namespace // a Role can grant get on its own namespace
	}
	return mayNamed(ctx, kube, a, name)
}

// mayNamed is like may for one object, or for all if name is empty.
func mayNamed(ctx context.Context, kube kubernetes.Interface, a Permission, name string) (bool, error) {
	resource, subresource, _ := strings.Cut(a.Resource, "/")
	review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: a.Group, Resource: resource, Subresource: subresource, Verb: a.Verb, Namespace: a.Namespace, Name: name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("check permission to %s %s: %w", a.Verb, a.Resource, err)
	}
	return review.Status.Allowed, nil
}
