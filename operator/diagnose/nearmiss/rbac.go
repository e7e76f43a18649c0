package nearmiss

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	corev1 "k8s.io/api/core/v1"
)

// defaultAccount is the ServiceAccount of pods that do not specify one.
const defaultAccount = "default"

// Account is a ServiceAccount.
type Account struct{ Namespace, Name string }

// String returns a human-readable name: "ServiceAccount monitoring/k8s".
func (a Account) String() string { return "ServiceAccount " + a.Namespace + "/" + a.Name }

// rbac are the RBAC objects of the view.
type rbac struct {
	accounts []Account
	roles    []role
	bindings []binding
}

// role is a Role, or a ClusterRole with an empty namespace.
type role struct {
	candidate
	rules []rbacv1.PolicyRule
	// open is set for an aggregated role, whose rules are in other roles.
	open bool
}

// binding is a RoleBinding, or a ClusterRoleBinding with an empty namespace.
type binding struct {
	candidate
	ref      rbacv1.RoleRef
	subjects []rbacv1.Subject
}

func (r *rbac) add(o Object) {
	switch o := o.(type) {
	case *corev1.ServiceAccount:
		r.accounts = append(r.accounts, Account{o.Namespace, o.Name})
	case *rbacv1.Role:
		r.roles = append(r.roles, role{candidate: thingOf("Role", o), rules: o.Rules})
	case *rbacv1.ClusterRole:
		r.roles = append(r.roles, role{candidate: thingOf("ClusterRole", o), rules: o.Rules, open: o.AggregationRule != nil})
	case *rbacv1.RoleBinding:
		r.bindings = append(r.bindings, binding{thingOf("RoleBinding", o), o.RoleRef, o.Subjects})
	case *rbacv1.ClusterRoleBinding:
		r.bindings = append(r.bindings, binding{thingOf("ClusterRoleBinding", o), o.RoleRef, o.Subjects})
	}
}

// names reports whether a binding applies to the ServiceAccount, by name or by group.
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

// namesGroup reports whether a binding does not apply to a ServiceAccount by name, but at most by
// group.
func (b binding) namesGroup(a Account) bool {
	b.subjects = slices.DeleteFunc(slices.Clone(b.subjects), func(s rbacv1.Subject) bool { return s.Kind == rbacv1.GroupKind })
	return !b.names(a)
}

// role returns the role of a binding; ok is false when it is not in the view.
func (r *rbac) role(b binding) (found role, ok bool) {
	i := slices.IndexFunc(r.roles, func(found role) bool {
		return found.kind == b.ref.Kind && found.name == b.ref.Name && (b.ref.Kind == "ClusterRole" || found.namespace == b.namespace)
	})
	if i < 0 {
		return role{}, false
	}
	return r.roles[i], true
}

// resource is a resource that discovery lists and watches.
type resource struct {
	group, name string
	cluster     bool // cluster-scoped
}

// String returns the name as in rules.
func (r resource) String() string { return r.name }

// searching are the verbs that discovery needs.
var searching = []string{"list", "watch"}

// resources returns the resources that the search reads.
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

// misspelled returns the error in rules that are meant to allow the resources: a resource in the
// singular or with capitals, or in the wrong API group. Empty if there is nothing of the kind.
func misspelled(rules []rbacv1.PolicyRule, wanted []resource) string {
	for _, r := range wanted {
		for _, rule := range rules {
			if !slices.Contains(rule.Verbs, "list") && !slices.Contains(rule.Verbs, "*") {
				continue
			}
			for _, name := range rule.Resources {
				switch {
				case name == r.name && !allows(rules, r, "list") && len(rule.ResourceNames) == 0:
					return fmt.Sprintf("%s in apiGroups: [%s], but they are in [%s]: correct the rule", name, quoted(rule.APIGroups), quoted([]string{r.group}))
				case name != r.name && (strings.EqualFold(name, r.name) || strings.EqualFold(name+"s", r.name) || strings.EqualFold(name+"es", r.name)):
					return fmt.Sprintf("the resource %q, which does not exist: write %s, and all resources in lower case and plural", name, r.name)
				}
			}
		}
	}
	return ""
}

// quoted formats API groups as in a manifest.
func quoted(groups []string) string {
	out := make([]string, 0, len(groups))
	for _, g := range groups {
		if g == "" {
			g = `""`
		}
		out = append(out, g)
	}
	return strings.Join(out, ", ")
}

// known are built-in ClusterRoles that allow everything.
var known = map[string][]rbacv1.PolicyRule{
	"cluster-admin": {{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
}

// grants returns the rules of a ServiceAccount in a namespace, or in all namespaces for "". unsure
// reports whether unknown roles may add to them.
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

// misplaced returns the Role in another namespace that a RoleBinding is probably meant to refer to;
// nil when there is none.
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
