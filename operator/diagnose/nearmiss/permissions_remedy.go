package nearmiss

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// remedy returns the change that grants the missing permissions.
func (v *View) remedy(account Account, n need, missing []resource) string {
	cluster := n.namespace == "" || slices.ContainsFunc(missing, func(r resource) bool { return r.cluster })
	for _, b := range v.rbac.bindings {
		if cluster && b.namespace != "" || !cluster && b.namespace != "" && b.namespace != n.namespace {
			continue
		}
		for i, s := range b.subjects {
			if b.namespace != "" && !b.names(account) && almost(s, account) {
				return fmt.Sprintf("%s is for %s: write namespace: %s and name: %s in subjects[%d]", b, subject(s), account.Namespace, account.Name, i)
			}
		}
		if !b.names(account) {
			continue
		}
		found, ok := v.rbac.role(b)
		if wrong := misspelled(found.rules, missing); ok && wrong != "" {
			return fmt.Sprintf("%s has %s", found, wrong)
		}
		if ok && searches(found) {
			return "add " + rulesFor(missing, found.rules) + " to " + found.String()
		}
		if found := v.rbac.misplaced(b); found != nil {
			return fmt.Sprintf("%s refers to a Role of its own namespace, and %s is in another: create it in %s", b, found, b.namespace)
		}
		if _, ok := v.rbac.role(b); !ok && v.whole(b.ref.Kind, []string{b.namespace}) {
			return fmt.Sprintf("%s refers to %s %s, which does not exist: create it", b, b.ref.Kind, b.ref.Name)
		}
	}
	if cluster {
		return v.clusterRemedy(account, missing)
	}
	for _, r := range v.rbac.roles {
		if r.namespace == n.namespace && !slices.ContainsFunc(missing, func(m resource) bool { return !allows(r.rules, m, searching...) }) {
			return fmt.Sprintf("%s allows it: create a RoleBinding there with this ServiceAccount as subject", r)
		}
	}
	if narrow := v.boundElsewhere(account, missing); narrow != "" {
		return narrow + ": create a ClusterRoleBinding, or a RoleBinding there"
	}
	return "create a Role that allows it and a RoleBinding there"
}

// boundElsewhere returns a statement about a ClusterRole that allows what is missing and is bound in
// another namespace; empty if there is none.
func (v *View) boundElsewhere(account Account, missing []resource) string {
	for _, b := range v.rbac.bindings {
		if found, ok := v.rbac.role(b); ok && b.names(account) && found.kind == "ClusterRole" && b.namespace != "" &&
			!slices.ContainsFunc(missing, func(m resource) bool { return !allows(found.rules, m, searching...) }) {
			return fmt.Sprintf("%s allows it, but %s is for its own namespace only", found, b)
		}
	}
	return ""
}

// searches reports whether a role grants permissions for discovery.
func searches(r role) bool {
	for _, resources := range roleResources {
		for _, one := range resources {
			if allows(r.rules, one, "get") || allows(r.rules, one, "list") {
				return true
			}
		}
	}
	return false
}

// clusterRemedy returns the change for permissions that need a ClusterRoleBinding.
func (v *View) clusterRemedy(account Account, missing []resource) string {
	if narrow := v.boundElsewhere(account, missing); narrow != "" {
		return narrow + ": create a ClusterRoleBinding"
	}
	remedy := "create a ClusterRole that allows it and a ClusterRoleBinding"
	if !slices.ContainsFunc(missing, func(r resource) bool { return r.cluster }) {
		remedy += ", or look into single namespaces"
	}
	return remedy
}

// rulesFor returns the missing rules: "the verbs list and watch for services and endpoints".
func rulesFor(missing []resource, rules []rbacv1.PolicyRule) string {
	var verbs []string
	by := map[string][]string{}
	for _, m := range missing {
		text := m.name
		if m.group != "" {
			text += " (apiGroups: [" + m.group + "])"
		}
		var lacking []string
		for _, verb := range searching {
			if !allows(rules, m, verb) {
				lacking = append(lacking, verb)
			}
		}
		key := "the " + report.Plural(len(lacking), "verb") + " " + and(lacking)
		verbs = compact(append(verbs, key))
		by[key] = append(by[key], text)
	}
	var out []string
	for _, key := range verbs {
		out = append(out, key+" for "+and(by[key]))
	}
	return and(out)
}
