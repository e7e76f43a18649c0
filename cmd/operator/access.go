package main

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

// access is one thing that may be allowed, in the whole cluster when there is
// no namespace. A resource may be one with its subresource, "prometheuses/status".
type access struct{ group, resource, verb, namespace string }

// accesses are some verbs on one resource in some namespaces.
func accesses(group, resource string, namespaces []string, verbs ...string) []access {
	var out []access
	for _, namespace := range namespaces {
		for _, verb := range verbs {
			out = append(out, access{group, resource, verb, namespace})
		}
	}
	return out
}

// summary is for people: "list, watch prometheusagents in namespaces one, two; get
// nodes". Verbs on one resource in one namespace must follow one another.
func summary(all []access) string {
	type row struct{ resource, verbs, namespace string }
	var rows []row
	for _, a := range all {
		if n := len(rows); n > 0 && rows[n-1].resource == a.resource && rows[n-1].namespace == a.namespace {
			rows[n-1].verbs += ", " + a.verb
			continue
		}
		rows = append(rows, row{a.resource, a.verb, a.namespace})
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

// questions is how many permissions are asked for at the same time: a list of
// namespaces makes many.
const questions = 8

// denied asks for several permissions and returns those that are missing, in order.
// What is needed in several namespaces is asked for in the whole cluster first.
func denied(ctx context.Context, kube kubernetes.Interface, needs []access) (missing []access, err error) {
	count := map[access]int{} // of namespaces
	for _, need := range needs {
		count[need.everywhere()]++
	}
	broad := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(a access) bool { return count[a] < 2 })
	granted, err := allowed(ctx, kube, broad)
	if err != nil {
		return nil, err
	}
	narrow := slices.DeleteFunc(slices.Clone(needs), func(a access) bool { return granted[a.everywhere()] })
	if granted, err = allowed(ctx, kube, narrow); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(narrow, func(a access) bool { return granted[a] }), nil
}

// everywhere is the same in the whole cluster.
func (a access) everywhere() access {
	a.namespace = ""
	return a
}

// allowed asks for each permission.
func allowed(ctx context.Context, kube kubernetes.Interface, all []access) (map[access]bool, error) {
	answers := make([]bool, len(all))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(questions)
	for i, a := range all {
		g.Go(func() (err error) {
			answers[i], err = may(ctx, kube, a)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := map[access]bool{}
	for i, a := range all {
		out[a] = answers[i]
	}
	return out, nil
}

// may asks the API server whether the operator is allowed to do something.
func may(ctx context.Context, kube kubernetes.Interface, a access) (bool, error) {
	resource, subresource, _ := strings.Cut(a.resource, "/")
	name := ""
	if a.resource == "namespaces" {
		name = a.namespace // a Role may give get on the namespace that it is in
	}
	review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: a.group, Resource: resource, Subresource: subresource, Verb: a.verb, Namespace: a.namespace, Name: name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("check permission to %s %s: %w", a.verb, a.resource, err)
	}
	return review.Status.Allowed, nil
}
