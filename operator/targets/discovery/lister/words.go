package lister

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// String returns a human-readable form: "pods in namespace demo".
func (w where) String() string {
	switch {
	case w.kind.ClusterScoped:
		return w.resource()
	case w.namespace == "":
		return w.resource() + " in all namespaces"
	}
	return w.resource() + " in namespace " + w.namespace
}

// resource returns the name as in the rules of a Role: "endpointslices.discovery.k8s.io".
func (w where) resource() string { return w.kind.Resource.GroupResource().String() }

// targets returns a human-readable description of the targets of a view.
func (v *view) targets() string {
	switch {
	case v.lists[0].kind.ClusterScoped:
		return "targets of role " + v.sd.Role
	case v.scope == "":
		return "targets of role " + v.sd.Role + " in all namespaces"
	}
	return "targets of role " + v.sd.Role + " in namespace " + v.scope
}

// forbidden returns the message for a view in which Prometheus finds nothing.
func forbidden(a account, verbs []string, w where, v *view) string {
	kind, scope := "ClusterRole", ""
	if w.namespace != "" {
		kind, scope = "Role", " in that namespace"
	}
	return fmt.Sprintf("Prometheus discovers no %s: %s may not %s %s; allow it with a %s%s",
		v.targets(), a, strings.Join(verbs, " and "), w, kind, scope)
}

// unreviewed returns the message for a view of which is not known whether Prometheus finds anything.
func unreviewed(a account, w where, v *view) string {
	return fmt.Sprintf("%s are not known: whether %s may %s %s is not reviewed yet", v.targets(), a, strings.Join(verbs, " and "), w)
}

// unread returns the message for targets that could not be read.
func unread(err error, w where, v *view) string {
	return v.targets() + " are not known: " + reason(err, w)
}

// reason returns why a list failed.
func reason(err error, w where) string {
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("the API server does not serve %s in version %s; Prometheus cannot discover them either", w.resource(), w.kind.Resource.Version)
	}
	return readers.Why(err, "list", w.String())
}

// failedReviews returns the note for failed access reviews of an account.
func failedReviews(a account, err error, who string) string {
	why := err.Error()
	if apierrors.IsForbidden(err) {
		why = who + " may not create " + readers.Reviews
	}
	return fmt.Sprintf("whether %s may list and watch what its jobs discover is not known: %s", a, why)
}
