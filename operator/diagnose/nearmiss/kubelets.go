package nearmiss

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Components of Kubernetes that ask the API server whether a ServiceAccount may read their metrics.
const (
	kubelet           = "kubelet"
	apiServer         = "apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// components maps the values of labels by which monitors select a component to the component.
var components = map[string]string{"kubelet": kubelet, "apiserver": apiServer, "kube-apiserver": apiServer, controllerManager: controllerManager, scheduler: scheduler}

// component returns the component that a search selects; empty if it is none of them.
func (s *Search) component() string {
	if s.scrape.scheme != "https" || s.scrape.field == "" {
		return ""
	}
	for _, c := range []string{kubelet, apiServer, controllerManager, scheduler} {
		if s.names(c) {
			return c
		}
	}
	return ""
}

// names reports whether the labels of a search name a component.
func (s *Search) names(component string) bool {
	for _, value := range s.matchLabels {
		if components[value] == component {
			return true
		}
	}
	return false
}

// plainPorts are ports without TLS that components had in older versions of Kubernetes, and those with TLS.
var plainPorts = []struct {
	component   string
	plain, with int32
}{{scheduler, 10251, 10259}, {controllerManager, 10252, 10257}}

// retired returns a note when a component is scraped at its port without TLS.
func retired(s *Search, ports []foundPort) []Hint {
	for _, of := range plainPorts {
		if !s.names(of.component) {
			continue
		}
		for _, p := range ports {
			if p.number == of.plain || p.target == of.plain || p.leadsTo == of.plain {
				return []Hint{{Code: Remark, Note: true, Field: s.port.field, Message: fmt.Sprintf(
					"%s leads to port %d of %s, which had no TLS and does not exist since Kubernetes 1.24: let the Service lead to port %d, and write scheme: https, the token of the ServiceAccount, and insecureSkipVerify: true or a ca in tlsConfig",
					p, of.plain, of.component, of.with)}}
			}
		}
	}
	return nil
}

// ScrapePermissions returns hints about permissions that the scrape itself needs, not the discovery: kubelets
// and the API server answer 403 without them. It returns none if the ServiceAccount has no known role.
func (v *View) ScrapePermissions(w v1.Workload, uses []Use) (out []Hint) {
	account := AccountOf(w)
	rules, unsure := v.rbac.grants(account, "")
	if v.extent.Whole != nil || unsure || len(rules) == 0 {
		return nil
	}
	reported := map[string]bool{}
	for _, u := range uses {
		for i := range u.Searches {
			s := &u.Searches[i]
			c := s.component()
			what := "nodes/metrics"
			allowed := c != kubelet || allows(rules, resource{"", what, true}, "get")
			if c == "" {
				c = v.guardOf(s)
			}
			if c != kubelet {
				what = "the nonResourceURL " + s.scrape.path
				allowed = allowsURL(rules, s.scrape.path)
			}
			if other := !s.scrape.own && !s.scrape.anonymous; c == "" || other || allowed || reported[what] {
				continue
			}
			reported[what] = true
			out = append(out, Hint{Code: Permission, Field: accountField, Message: fmt.Sprintf(
				"%s may not get %s, so the %s answers 403 to the scrapes of %s; add the verb get for %s to %s", account, what, c, u, what, v.roleOf(account))})
		}
	}
	return out
}

// roleOf returns a ClusterRole of a ServiceAccount for the whole cluster, for advice.
func (v *View) roleOf(a Account) string {
	for _, b := range v.rbac.bindings {
		if found, ok := v.rbac.role(b); ok && b.namespace == "" && b.names(a) && !b.namesGroup(a) {
			return found.String()
		}
	}
	return "a ClusterRole of it"
}

// allowsURL reports whether rules allow to get a path that is no resource.
func allowsURL(rules []rbacv1.PolicyRule, path string) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return (slices.Contains(rule.Verbs, "get") || slices.Contains(rule.Verbs, "*")) && slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool {
			before, open := strings.CutSuffix(pattern, "*")
			return pattern == path || open && strings.HasPrefix(path, before)
		})
	})
}
