package evidence

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// answer is the result of a permission review.
type answer struct {
	may bool
	err error
}

// permissions reviews the permissions that the searches need. Roles and bindings are read for
// permissions that are denied, or that the caller may not review.
func (l *search) permissions() {
	account := nearmiss.AccountOf(l.workload)
	var open []string // namespaces of permissions that are denied or unknown
	var refused error
	for _, q := range nearmiss.Reviews(l.workload, l.uses) {
		a := l.review(q)
		if a.err == nil {
			l.extent.Reviews[q] = a.may
		} else {
			refused = a.err
		}
		if !a.may && !slices.Contains(open, q.Namespace) {
			open = append(open, q.Namespace)
		}
	}
	if open == nil {
		return
	}
	decided := l.rbac(account, open)
	if refused == nil || decided {
		return
	}
	why := readers.Why(refused, "create", readers.Reviews)
	if apierrors.IsForbidden(refused) {
		why += ", or for the verb list on roles, rolebindings, clusterroles and clusterrolebindings"
	}
	l.isUnknown("whether " + account.String() + " may list and watch what it must: " + why)
}

// review sends a review to the API server, at most once. After a forbidden one it sends no more.
func (a *Around) review(q nearmiss.Review) answer {
	if known, asked := a.may[q]; asked {
		return known
	}
	for _, other := range a.may {
		if apierrors.IsForbidden(other.err) {
			return other
		}
	}
	var out answer
	r, can := a.reader.(readers.Reviewer)
	if !can {
		out.err = apierrors.NewForbidden(schema.GroupResource{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, "", nil)
	} else {
		key := types.NamespacedName{Namespace: q.Account.Namespace, Name: q.Account.Name}
		out.may, out.err = r.May(a.ctx, key, q.Verb, schema.GroupResource{Group: q.Group, Resource: q.Resource}, q.Namespace)
	}
	a.may[q] = out
	return out
}

// rbac reads the roles and bindings that apply to a ServiceAccount in namespaces, and reports
// whether they are complete. If they are not, only a remedy in a hint is missing, unless the API
// server did not review the permissions.
func (l *search) rbac(account nearmiss.Account, namespaces []string) (all bool) {
	all = len(namespaces) <= mostPlaces
	read := func(kind, namespace string) {
		q := readers.Query{GroupVersionResource: resources[kind], Namespace: namespace, Limit: most}
		all = l.take(kind, q) == nil && !l.read(q).cut && all
	}
	read("ClusterRole", "")
	read("ClusterRoleBinding", "")
	for _, namespace := range namespaces[:min(len(namespaces), mostPlaces)] {
		if namespace != "" {
			read("Role", namespace)
			read("RoleBinding", namespace)
		}
	}
	// Objects in namespaces where they have no effect, which is a common mistake.
	for _, u := range l.uses {
		for _, namespace := range []string{account.Namespace, u.Object.GetNamespace()} {
			l.maybe("Role", readers.Query{Namespace: namespace, Limit: most})
			l.maybe("RoleBinding", readers.Query{Namespace: namespace, Limit: most})
		}
	}
	l.maybe("ServiceAccount", readers.Query{Namespace: account.Namespace, Limit: most})
	if l.workload.GetWorkloadFields().ServiceAccountName == "" {
		l.maybe("Pod", readers.Query{Namespace: account.Namespace, Limit: most}) // the pods use the other accounts
	} else {
		l.maybe("ServiceAccount", readers.Query{Name: account.Name, Limit: mostElsewhere})
	}
	return all
}
