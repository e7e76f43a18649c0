package nearmiss

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	corev1 "k8s.io/api/core/v1"
)

// defaultAccount is the ServiceAccount of pods that name none.
const defaultAccount = "default"

// Account is a ServiceAccount.
type Account struct{ Namespace, Name string }

// String is for people: "ServiceAccount monitoring/k8s".
func (a Account) String() string { return "ServiceAccount " + a.Namespace + "/" + a.Name }

// rbac is what the manifests say about permissions.
type rbac struct {
	accounts []Account
	roles    []role
	bindings []binding
}

// role is a Role, or a ClusterRole without namespace.
type role struct {
	thing
	rules []rbacv1.PolicyRule
	// open says that others add rules to it.
	open bool
}

// binding is a RoleBinding, or a ClusterRoleBinding without namespace.
type binding struct {
	thing
	ref      rbacv1.RoleRef
	subjects []rbacv1.Subject
}

func (r *rbac) add(o Object) {
	switch o := o.(type) {
	case *corev1.ServiceAccount:
		r.accounts = append(r.accounts, Account{o.Namespace, o.Name})
	case *rbacv1.Role:
		r.roles = append(r.roles, role{thing: thingOf("Role", o), rules: o.Rules})
	case *rbacv1.ClusterRole:
		r.roles = append(r.roles, role{thing: thingOf("ClusterRole", o), rules: o.Rules, open: o.AggregationRule != nil})
	case *rbacv1.RoleBinding:
		r.bindings = append(r.bindings, binding{thingOf("RoleBinding", o), o.RoleRef, o.Subjects})
	case *rbacv1.ClusterRoleBinding:
		r.bindings = append(r.bindings, binding{thingOf("ClusterRoleBinding", o), o.RoleRef, o.Subjects})
	}
}

// names reports whether a binding is for the ServiceAccount, alone or in a group.
func (b binding) names(a Account) bool {
	return slices.ContainsFunc(b.subjects, func(s rbacv1.Subject) bool {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			return s.Name == a.Name && s.Namespace == a.Namespace
		case rbacv1.UserKind:
			return s.Name == "system:serviceaccount:"+a.Namespace+":"+a.Name
		case rbacv1.GroupKind:
			return slices.Contains([]string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"}, s.Name)
		}
		return false
	})
}

// namesGroup reports whether a binding is for a ServiceAccount only as one of a group.
func (b binding) namesGroup(a Account) bool {
	b.subjects = slices.DeleteFunc(slices.Clone(b.subjects), func(s rbacv1.Subject) bool { return s.Kind == rbacv1.GroupKind })
	return !b.names(a)
}

// role finds what a binding refers to; ok is false when it is not among the manifests.
func (r *rbac) role(b binding) (found role, ok bool) {
	i := slices.IndexFunc(r.roles, func(found role) bool {
		return found.kind == b.ref.Kind && found.name == b.ref.Name && (b.ref.Kind == "ClusterRole" || found.namespace == b.namespace)
	})
	if i < 0 {
		return role{}, false
	}
	return r.roles[i], true
}

// resource is what a discovery lists and watches.
type resource struct {
	group, name string
	cluster     bool // it has no namespace
}

// String names it as in rules.
func (r resource) String() string { return r.name }

// searching are the verbs that a discovery needs.
var searching = []string{"list", "watch"}

// resources are those that the search needs.
func (s *Search) resources() []resource {
	out := slices.Clone(roleResources[s.Role])
	if s.Nodes && s.Role != roleNode {
		out = append(out, nodes)
	}
	if s.NamespaceMetadata {
		out = append(out, resource{"", "namespaces", true})
	}
	return out
}

var (
	services = resource{"", "services", false}
	thePods  = resource{"", "pods", false}
	nodes    = resource{"", "nodes", true}

	roleResources = map[string][]resource{
		roleEndpoints:     {services, {"", "endpoints", false}, thePods},
		roleEndpointSlice: {services, {"discovery.k8s.io", "endpointslices", false}, thePods},
		roleService:       {services},
		rolePod:           {thePods},
		roleIngress:       {{"networking.k8s.io", "ingresses", false}},
		roleNode:          {nodes},
	}
)

// allows reports whether rules allow the verbs on all objects of a resource.
func allows(rules []rbacv1.PolicyRule, r resource, verbs ...string) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	for _, verb := range verbs {
		if !slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
			return len(rule.ResourceNames) == 0 && has(rule.APIGroups, r.group) && has(rule.Resources, r.name) && has(rule.Verbs, verb)
		}) {
			return false
		}
	}
	return true
}

// known are ClusterRoles of every cluster that allow everything.
var known = map[string][]rbacv1.PolicyRule{
	"cluster-admin": {{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
}

// grants are the rules that a ServiceAccount has in a namespace, or everywhere for "".
// unsure says that others may add to them.
func (r *rbac) grants(a Account, namespace string) (rules []rbacv1.PolicyRule, unsure bool) {
	for _, b := range r.bindings {
		if !b.names(a) || b.namespace != "" && b.namespace != namespace {
			continue
		}
		found, ok := r.role(b)
		switch {
		case ok:
			rules, unsure = append(rules, found.rules...), unsure || found.open
		case known[b.ref.Name] != nil && b.ref.Kind == "ClusterRole":
			rules = append(rules, known[b.ref.Name]...)
		case r.misplaced(b) == nil:
			unsure = true
		}
	}
	return rules, unsure
}

// misplaced is the Role that a RoleBinding means in another namespace, where it does not
// reach; nil when there is none.
func (r *rbac) misplaced(b binding) *role {
	if b.ref.Kind != "Role" {
		return nil
	}
	for i := range r.roles {
		if found := &r.roles[i]; found.kind == "Role" && found.name == b.ref.Name && found.namespace != b.namespace {
			return found
		}
	}
	return nil
}
