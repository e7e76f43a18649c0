package nearmiss

import (
	"slices"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Review is a check of one permission of a ServiceAccount.
type Review struct {
	Account
	Verb, Group, Resource string
	Namespace             string // "" for all namespaces, and for cluster-scoped resources
}

// Reviews returns the permissions that the searches of a workload need, without duplicates.
func Reviews(w v1.Workload, uses []Use) (out []Review) {
	for _, n := range needsOf(w, uses) {
		for _, r := range n.resources {
			for _, verb := range searching {
				if q := reviewOf(AccountOf(w), verb, n.namespace, r); !slices.Contains(out, q) {
					out = append(out, q)
				}
			}
		}
	}
	return out
}

func reviewOf(a Account, verb, namespace string, r resource) Review {
	if r.cluster {
		namespace = ""
	}
	return Review{a, verb, r.group, r.name, namespace}
}

// reviewed reports whether the API server allows listing and watching a resource; known is false
// when it was not reviewed.
func (v *View) reviewed(a Account, namespace string, r resource) (allowed, known bool) {
	allowed = true
	for _, verb := range searching {
		may, asked := v.extent.Reviews[reviewOf(a, verb, namespace, r)]
		if !asked {
			return false, false
		}
		allowed = allowed && may
	}
	return allowed, true
}

// notAllowed returns the needs that the API server did not confirm completely.
func (v *View) notAllowed(a Account, needs []need) []need {
	return slices.DeleteFunc(needs, func(n need) bool {
		return !slices.ContainsFunc(n.resources, func(r resource) bool {
			allowed, known := v.reviewed(a, n.namespace, r)
			return !known || !allowed
		})
	})
}

// decided reports whether a permission that is not granted is definitely missing: the API server
// reviewed it, or all roles and bindings are known.
func (v *View) decided(a Account, needs []need) bool {
	return v.wholeRBAC(needs) || !slices.ContainsFunc(needs, func(n need) bool {
		return slices.ContainsFunc(n.resources, func(r resource) bool {
			_, known := v.reviewed(a, n.namespace, r)
			return !known
		})
	})
}

// wholeRBAC reports whether all roles and bindings that could grant the needs are known.
func (v *View) wholeRBAC(needs []need) bool {
	if !v.whole("ClusterRole", nil) || !v.whole("ClusterRoleBinding", nil) {
		return false
	}
	return !slices.ContainsFunc(needs, func(n need) bool {
		own := []string{n.namespace}
		return n.namespace != "" && !(v.whole("Role", own) && v.whole("RoleBinding", own))
	})
}
