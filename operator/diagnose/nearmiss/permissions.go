package nearmiss

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

const accountField = "spec.serviceAccountName"

// AccountOf returns the ServiceAccount that the pods of a workload use for discovery.
func AccountOf(w v1.Workload) Account {
	return Account{w.GetNamespace(), cmp.Or(w.GetWorkloadFields().ServiceAccountName, defaultAccount)}
}

// need is the set of resources that discovery reads in one namespace, or in all for "", with the
// objects that need them.
type need struct {
	namespace string
	resources []resource
	by        []string
	// central is whether the discovery service discovers in place of the servers.
	central bool
}

// Permissions compares the permissions that a workload needs with those of its ServiceAccount. If a
// use is the workload itself, its searches are for Alertmanagers. It returns no hints unless a
// binding allows this ServiceAccount, or one with a similar name, to discover targets.
func (v *View) Permissions(w v1.Workload, uses []Use) []Hint {
	account := AccountOf(w)
	needs := v.notAllowed(account, needsOf(w, uses))
	decided := v.decided(account, needs)
	if len(needs) == 0 || v.extent.Whole != nil && !decided {
		return nil
	}
	if h, ok := v.strangeAccount(w, account); ok {
		return []Hint{h}
	}
	if h, ok := v.strayRole(account, needs[0]); ok {
		return []Hint{h}
	}
	bound, forTargets := false, false
	for _, b := range v.rbac.bindings {
		if !b.names(account) {
			continue
		}
		found, ok := v.rbac.role(b)
		useful := ok && (searches(found) || slices.ContainsFunc(needs, func(n need) bool { return misspelled(found.rules, n.resources) != "" })) || v.rbac.misplaced(b) != nil
		forTargets = forTargets || useful
		bound = bound || useful || !b.namesGroup(account)
	}
	switch {
	case !bound:
		if hints := v.unbound(w, account, needs); hints != nil || !decided {
			return hints
		}
	case !forTargets && !decided:
		return nil // its permissions for discovery are elsewhere
	}
	return v.lacks(account, needs)
}

// lack is a set of missing permissions, merged over namespaces.
type lack struct {
	namespaces []string
	by         []string
	missing    []resource
	remedy     string
	central    bool
}

// lacks returns hints about permissions that no binding of the ServiceAccount grants.
func (v *View) lacks(account Account, needs []need) (out []Hint) {
	var all []lack
	for _, n := range needs {
		missing, unsure := v.missing(account, n)
		if len(missing) == 0 || unsure {
			continue
		}
		one := lack{[]string{n.namespace}, n.by, missing, v.remedy(account, n, missing), n.central}
		i := slices.IndexFunc(all, func(l lack) bool { return l.remedy == one.remedy && slices.Equal(l.missing, one.missing) })
		if i < 0 {
			all = append(all, one)
			continue
		}
		all[i].namespaces = append(all[i].namespaces, n.namespace)
		all[i].by = compact(append(all[i].by, n.by...))
		all[i].central = all[i].central || n.central
	}
	for _, l := range all {
		verb := "needs"
		if len(l.by) > 1 {
			verb = "need"
		}
		out = append(out, Hint{Code: Permission, Field: accountField, Message: fmt.Sprintf("%s may not list and watch %s%s, which %s %s%s; %s",
			account, list(l.missing), l.where(), and(l.by), verb, l.limits(), l.remedy)})
	}
	return out
}

// limits states that the ServiceAccount limits the discovery service too, if that discovers the targets.
func (l lack) limits() string {
	if !l.central {
		return ""
	}
	return " (the discovery service finds only what this ServiceAccount may read)"
}

// where returns " in namespaces a and b".
func (l lack) where() string {
	switch {
	case !slices.ContainsFunc(l.missing, func(r resource) bool { return !r.cluster }):
		return ""
	case l.namespaces[0] == "":
		return " in all namespaces"
	}
	return " in " + namespaceList(l.namespaces)
}

// missing returns the resources that the ServiceAccount may not list and watch. unsure reports
// whether roles that are not in the view may grant the permissions.
func (v *View) missing(account Account, n need) (out []resource, unsure bool) {
	here, unsure := v.rbac.grants(account, n.namespace)
	everywhere, alsoUnsure := v.rbac.grants(account, "")
	guessed := false
	for _, r := range n.resources {
		if allowed, known := v.reviewed(account, n.namespace, r); known {
			if !allowed {
				out = append(out, r)
			}
			continue
		}
		guessed = true
		have := here
		if r.cluster {
			have = everywhere
		}
		if !allows(have, r, searching...) {
			out = append(out, r)
		}
	}
	return out, guessed && (unsure || alsoUnsure)
}

// needsOf returns the needs by namespace, sorted, beginning with all namespaces.
func needsOf(w v1.Workload, uses []Use) []need {
	all := map[string]*need{}
	add := func(s *Search, by string) {
		if !s.usesKubernetes() {
			return
		}
		namespaces := s.Namespaces
		if namespaces == nil || s.Role == roleNode {
			namespaces = []string{""}
		}
		for _, ns := range namespaces {
			n := all[ns]
			if n == nil {
				n = &need{namespace: ns}
				all[ns] = n
			}
			for _, r := range s.resources() {
				if !slices.Contains(n.resources, r) {
					n.resources = append(n.resources, r)
				}
			}
			n.central = n.central || s.By == wellknown.CentralDiscovery
			if !slices.Contains(n.by, by) {
				n.by = append(n.by, by)
			}
		}
	}
	for _, u := range uses {
		by := u.String()
		if u.Object == catalog.Object(w) {
			by = "spec.alerting"
		}
		for i := range u.Searches {
			add(&u.Searches[i], by)
		}
	}
	var out []need
	for _, ns := range slices.Sorted(maps.Keys(all)) {
		out = append(out, *all[ns])
	}
	return out
}

func list(resources []resource) string {
	var out []string
	for _, r := range resources {
		out = append(out, r.name)
	}
	return and(out)
}

// strangeAccount returns a hint if the ServiceAccount does not exist, but one with a similar name
// does.
func (v *View) strangeAccount(w v1.Workload, account Account) (Hint, bool) {
	if w.GetWorkloadFields().ServiceAccountName == "" || slices.Contains(v.rbac.accounts, account) {
		return Hint{}, false
	}
	all := v.whole("ServiceAccount", []string{account.Namespace})
	if v.extent.Whole != nil && !all {
		return Hint{}, false
	}
	for _, a := range v.rbac.accounts {
		switch {
		case a.Namespace == account.Namespace && alike(a.Name, account.Name):
			return Hint{Code: Permission, Field: accountField, Message: fmt.Sprintf("there is no %s; there is %s: did you mean %q?", account, a, a.Name)}, true
		case a.Name == account.Name && a.Namespace != account.Namespace && (all || !slices.ContainsFunc(v.rbac.accounts, func(a Account) bool { return a.Namespace == account.Namespace })):
			return Hint{Code: Permission, Field: accountField, Message: fmt.Sprintf(
				"there is no %s; there is %s: pods use a ServiceAccount of their own namespace only", account, a)}, true
		}
	}
	if all {
		return Hint{Code: Permission, Field: accountField, Message: fmt.Sprintf("there is no %s, without which no pod starts: create it", account)}, true
	}
	return Hint{}, false
}

// strayRole returns a hint if a binding of the ServiceAccount refers to a role that is not among the
// manifests, and a role with the permissions is in no binding.
func (v *View) strayRole(account Account, n need) (Hint, bool) {
	if v.extent.Whole != nil {
		return Hint{}, false
	}
	for _, b := range v.rbac.bindings {
		if _, ok := v.rbac.role(b); ok || !b.names(account) || b.namesGroup(account) || known[b.ref.Name] != nil || v.rbac.misplaced(b) != nil {
			continue
		}
		for _, r := range v.rbac.roles {
			bound := slices.ContainsFunc(v.rbac.bindings, func(other binding) bool {
				found, ok := v.rbac.role(other)
				return ok && found.candidate.String() == r.candidate.String()
			})
			if bound || r.kind != b.ref.Kind || r.namespace != "" && r.namespace != b.namespace ||
				slices.ContainsFunc(n.resources, func(m resource) bool { return !allows(r.rules, m, searching...) }) {
				continue
			}
			return Hint{Code: Permission, Field: accountField, Message: fmt.Sprintf(
				"%s may not list and watch %s: %s refers to %s %s, which is not among the manifests; %s, to which no binding refers, allows it: write name: %s in roleRef",
				account, list(n.resources), b, b.ref.Kind, b.ref.Name, r, r.name)}, true
		}
	}
	return Hint{}, false
}

// unbound returns a hint if no binding names the ServiceAccount, but a similar one exists.
func (v *View) unbound(w v1.Workload, account Account, needs []need) []Hint {
	hint := func(format string, args ...any) []Hint {
		return []Hint{{Code: Permission, Field: accountField, Message: fmt.Sprintf(format, args...)}}
	}
	if v.extent.Whole != nil && !v.wholeRBAC(needs) {
		return nil // a binding that is not in the view may name it
	}
	wanted := needs[0].resources
	useful := func(rules []rbacv1.PolicyRule) bool {
		return slices.ContainsFunc(wanted, func(r resource) bool { return allows(rules, r, "list") })
	}
	for _, b := range v.rbac.bindings {
		if found, ok := v.rbac.role(b); ok && !useful(found.rules) {
			continue
		}
		for i, s := range b.subjects {
			if almost(s, account) && w.GetWorkloadFields().ServiceAccountName != "" {
				return hint("no binding names %s, so it may not list %s; %s is for %s: write namespace: %s and name: %s in subjects[%d]",
					account, list(wanted), b, subject(s), account.Namespace, account.Name, i)
			}
		}
	}
	if w.GetWorkloadFields().ServiceAccountName == "" {
		if a, b, ok := v.idleAccount(account.Namespace, useful); ok {
			return hint("is not set, so the pods run as %s, which no binding names; %s, which nothing uses, may list %s (%s): set serviceAccountName: %s",
				account, a, list(wanted), b, a.Name)
		}
		return nil
	}
	if v.extent.Whole == nil && !slices.Contains(v.rbac.accounts, account) {
		if a, b, ok := v.idleAccount(account.Namespace, useful); ok {
			return hint("there is no %s among the manifests; there is %s, which nothing uses and which may list %s (%s): did you mean %q?", account, a, list(wanted), b, a.Name)
		}
	}
	if b, i, ok := v.boundToNobody(account, useful); ok {
		return hint("no binding names %s, so it may not list %s; %s allows it for %s, which is not among the manifests: write name: %s in subjects[%d]",
			account, list(wanted), b, subject(b.subjects[i]), account.Name, i)
	}
	for _, r := range v.rbac.roles {
		bound := slices.ContainsFunc(v.rbac.bindings, func(b binding) bool { return b.ref.Kind == r.kind && b.ref.Name == r.name })
		if !bound && r.name == account.Name && useful(r.rules) {
			return hint("no binding names %s, so it may not list %s; %s allows it: create a %sBinding with this ServiceAccount as subject", account, list(wanted), r, r.kind)
		}
	}
	return nil
}

// boundToNobody returns a binding of useful permissions whose subject in the namespace of an account is not among the
// manifests, although the account is.
func (v *View) boundToNobody(account Account, useful func([]rbacv1.PolicyRule) bool) (found binding, i int, ok bool) {
	if v.extent.Whole != nil || !slices.Contains(v.rbac.accounts, account) {
		return binding{}, 0, false
	}
	for _, b := range v.rbac.bindings {
		r, known := v.rbac.role(b)
		if !known || !useful(r.rules) {
			continue
		}
		for i, s := range b.subjects {
			of := Account{s.Namespace, s.Name}
			used := slices.ContainsFunc(v.pods, func(p pods) bool { return p.namespace == of.Namespace && p.account == of.Name })
			if s.Kind == rbacv1.ServiceAccountKind && of.Namespace == account.Namespace && !used && !slices.Contains(v.rbac.accounts, of) {
				return b, i, true
			}
		}
	}
	return binding{}, 0, false
}

// almost reports whether a subject is probably meant to be the ServiceAccount.
func almost(s rbacv1.Subject, a Account) bool {
	if s.Kind != rbacv1.ServiceAccountKind {
		return s.Kind == rbacv1.UserKind && s.Name == a.Name
	}
	return s.Name == a.Name || s.Namespace == a.Namespace && alike(s.Name, a.Name)
}

func subject(s rbacv1.Subject) string {
	if s.Namespace == "" {
		return s.Kind + " " + s.Name + " without a namespace"
	}
	return s.Kind + " " + s.Namespace + "/" + s.Name
}

// idleAccount returns the ServiceAccount of a namespace that no pods use and that has useful
// permissions; ok is false when there is none, or more than one.
func (v *View) idleAccount(namespace string, useful func([]rbacv1.PolicyRule) bool) (found Account, by binding, ok bool) {
	if v.extent.Whole != nil && !v.whole("Pod", []string{namespace}) {
		return found, by, false // pods that are not in the view may use it
	}
	for _, a := range v.rbac.accounts {
		used := slices.ContainsFunc(v.pods, func(p pods) bool { return p.namespace == a.Namespace && p.account == a.Name })
		if a.Namespace != namespace || used {
			continue
		}
		for _, b := range v.rbac.bindings {
			if r, is := v.rbac.role(b); is && b.names(a) && useful(r.rules) {
				if ok && found != a {
					return Account{}, binding{}, false
				}
				found, by, ok = a, b, true
			}
		}
	}
	return found, by, ok
}
