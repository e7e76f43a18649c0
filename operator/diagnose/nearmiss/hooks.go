package nearmiss

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// hook is a webhook that the API server asks about objects of the operator.
type hook struct {
	of    candidate
	field string // of its Service
	at    *admissionv1.ServiceReference
	fails bool // without an answer, the API server refuses the objects
	// resource is the only one that it is about; empty for several.
	resource string
}

// hook adds a webhook if it is about objects of the operator and a Service answers it.
func (v *View) hook(of candidate, i int, client admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType, rules []admissionv1.RuleWithOperations) {
	ours := slices.ContainsFunc(rules, func(r admissionv1.RuleWithOperations) bool { return slices.Contains(r.APIGroups, v1.GroupName) })
	if client.Service == nil || !ours {
		return
	}
	v.hooks = append(v.hooks, hook{of, fmt.Sprintf("webhooks[%d].clientConfig.service", i), client.Service, policy == nil || *policy == admissionv1.Fail, only(rules)})
}

// only returns the resource that rules are about; empty for several, or for a pattern.
func only(rules []admissionv1.RuleWithOperations) (resource string) {
	for _, r := range rules {
		for _, name := range r.Resources {
			if resource != "" && name != resource {
				return ""
			}
			resource = name
		}
	}
	return resource
}

// Hooks returns hints about webhooks whose Service does not exist or does not have the port; none without a known Service.
func (v *View) Hooks() (out []About) {
	if len(v.services) == 0 || v.Crowded() {
		return nil
	}
	for _, h := range v.hooks {
		i := slices.IndexFunc(v.services, func(s service) bool { return s.namespace == h.at.Namespace && s.name == h.at.Name })
		if i < 0 {
			out = append(out, h.of.about(v.unanswered(h)))
			continue
		}
		svc, port := v.services[i], int32(443)
		if h.at.Port != nil {
			port = *h.at.Port
		}
		ports := svc.spec.Ports
		if len(ports) > 0 && !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Port == port }) {
			out = append(out, h.of.about(Hint{Code: Remark, Field: h.field + ".port", Message: fmt.Sprintf(
				"%s has no port %d; it has %s, so %s: write port: %d", svc, port, servicePorts(svc), h.effect(), ports[0].Port)}))
		} else if hint, wrong := v.pathless(h, svc); wrong {
			out = append(out, h.of.about(hint))
		}
	}
	return out
}

// hookPaths are the paths under which the operator answers webhooks about a resource.
var hookPaths = map[string][]string{
	"prometheusrules":     {wellknown.ValidateRulesPath, wellknown.MutateRulesPath},
	"alertmanagerconfigs": {wellknown.ValidateAlertmanagerConfigsPath},
}

// ofOperators reports whether the name of a Service or image is probably that of an operator for this API group.
func ofOperators(name string) bool {
	return slices.ContainsFunc([]string{"prometheus-operator", "kube-prometheus", "firekeeper", "admission-webhook"}, func(part string) bool { return strings.Contains(name, part) })
}

// pathless returns a hint about a webhook whose path an operator behind its Service does not have.
func (v *View) pathless(h hook, svc service) (Hint, bool) {
	if !ofOperators(svc.name) && !slices.ContainsFunc(v.behind(svc), func(p pods) bool { return slices.ContainsFunc(p.images, ofOperators) }) {
		return Hint{}, false
	}
	known := hookPaths[h.resource]
	if h.of.kind == "ValidatingWebhookConfiguration" {
		known = known[:min(1, len(known))]
	} else if len(known) > 1 {
		known = known[1:]
	}
	path := "/"
	if h.at.Path != nil {
		path = *h.at.Path
	}
	if len(known) == 0 || slices.Contains(known, path) {
		return Hint{}, false
	}
	return Hint{Code: Remark, Field: h.field + ".path", Message: fmt.Sprintf(
		"%s is no path of the operator behind %s, which answers 404, so %s: write %s", path, svc, h.effect(), known[0])}, true
}

// unanswered returns a hint about a webhook without a Service.
func (v *View) unanswered(h hook) Hint {
	out := Hint{Code: Remark, Field: h.field + ".name", Message: fmt.Sprintf("there is no Service %q in namespace %s%s", h.at.Name, h.at.Namespace, v.place("Service", []string{h.at.Namespace}))}
	var meant *service
	for i := range v.services {
		switch svc := &v.services[i]; {
		case svc.namespace == h.at.Namespace && (alike(svc.name, h.at.Name) || strings.HasPrefix(svc.name, h.at.Name) || strings.HasPrefix(h.at.Name, svc.name)):
			meant = svc
		case svc.name == h.at.Name:
			meant = cmp.Or(meant, svc)
		}
	}
	switch {
	case meant == nil:
		out.Note = true
		out.Message += ": without one, " + h.effect()
	case meant.namespace == h.at.Namespace:
		out.Message += fmt.Sprintf(", so %s; there is %s: did you mean name: %s?", h.effect(), meant, meant.name)
	default:
		out.Field = h.field + ".namespace"
		out.Message += fmt.Sprintf(", so %s; there is %s: did you mean namespace: %s?", h.effect(), meant, meant.namespace)
	}
	return out
}

// effect returns what the API server does while nothing answers.
func (h hook) effect() string {
	if h.fails {
		return "the API server refuses the objects that the webhook is for"
	}
	return "the objects that the webhook is for are not checked"
}
