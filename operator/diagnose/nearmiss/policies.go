package nearmiss

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// policy is a NetworkPolicy that isolates pods, with its selector.
type policy struct {
	*networkingv1.NetworkPolicy
	pods labels.Selector
}

// policy adds a NetworkPolicy.
func (v *View) policy(o *networkingv1.NetworkPolicy) {
	selector, err := metav1.LabelSelectorAsSelector(&o.Spec.PodSelector)
	if err == nil {
		v.policies = append(v.policies, policy{o, selector})
	}
}

// Blocked returns notes about pods of an object that NetworkPolicies isolate from the pods of a
// workload.
func (v *View) Blocked(w v1.Workload, u Use) (out []Hint) {
	isolated := map[string]string{}
	for i := range u.Searches {
		out = append(out, v.blocked(w, &u.Searches[i], isolated)...)
	}
	return once(append(out, v.proberBlocked(w, u.Object, isolated)...))
}

// blocked returns notes about pods that NetworkPolicies isolate from the pods of a workload.
// isolated caches what isolates ports of pods, by their String.
func (v *View) blocked(w v1.Workload, s *Search, isolated map[string]string) []Hint {
	if len(v.policies) == 0 || v.Crowded() || !s.forServices() && s.Role != rolePod || s.Elsewhere {
		return nil
	}
	return v.closed(w, s.objectField(), v.foundPorts(s), isolated)
}

// proberBlocked returns a note if NetworkPolicies isolate the prober of a Probe from the pods of a workload.
func (v *View) proberBlocked(w v1.Workload, object catalog.Object, isolated map[string]string) []Hint {
	probe, is := object.(*v1.Probe)
	if !is || len(v.policies) == 0 || v.Crowded() {
		return nil
	}
	spec := probe.Spec.ProberSpec
	return v.closed(w, "spec.prober.url", v.portsAt(spec.URL, strings.EqualFold(string(spec.Scheme), "https"), w.GetNamespace()), isolated)
}

// portsAt returns the ports of Services at an address, seen from a namespace.
func (v *View) portsAt(host string, tls bool, own string) (out []foundPort) {
	h, ok := v.hostOf(host)
	if !ok {
		return nil
	}
	if h.port == 0 {
		h.port = defaultPort(tls)
	}
	for _, svc := range v.addressed(host, own) {
		for _, p := range svc.spec.Ports {
			if p.Port == h.port {
				out = append(out, portOf(svc, p, v.behind(svc)))
			}
		}
	}
	return out
}

// closed returns a note if NetworkPolicies isolate one of the ports from the pods of a workload.
//
// isolated: a cache, as in [View.blocked].
func (v *View) closed(w v1.Workload, field string, ports []foundPort, isolated map[string]string) []Hint {
	from := slices.IndexFunc(v.pods, func(p pods) bool {
		return p.made && p.namespace == w.GetNamespace() && p.labels[wellknown.LabelAppInstance] == w.GetName() && p.labels[managedByLabel] == managedBy
	})
	if from < 0 {
		return nil
	}
	for _, p := range ports {
		port := cmp.Or(p.leadsTo, p.target)
		for _, target := range p.behind {
			id := fmt.Sprintf("%s %d", target, port)
			message, known := isolated[id]
			if !known {
				message = v.isolates(v.pods[from], target, port)
				isolated[id] = message
			}
			if message != "" {
				return []Hint{{Code: Remark, Note: true, Field: field, Message: message}}
			}
		}
	}
	return nil
}

// isolates returns which policy isolates a port of the target pods from other pods, 0 for an unknown port; "" when
// none does, or may not.
func (v *View) isolates(from, target pods, port int32) string {
	if from.onNode || target.onNode {
		return "" // the addresses are those of nodes
	}
	const remedy = "[{namespaceSelector: {matchLabels: {%s: %s}}}]%s"
	if first, ports, why := v.confined(networkingv1.PolicyTypeIngress, target, from, target, port); first != "" {
		on, also := onPort(port, ports)
		return fmt.Sprintf("NetworkPolicy %s/%s isolates the pods of %s, and no policy%s admits the pods of %s%s%s: add an ingress rule with from: "+remedy,
			target.namespace, first, target, v.place("NetworkPolicy", []string{target.namespace}), from, on, why, corev1.LabelMetadataName, from.namespace, also)
	}
	if first, ports, why := v.confined(networkingv1.PolicyTypeEgress, from, target, target, port); first != "" {
		on, also := onPort(port, ports)
		return fmt.Sprintf("NetworkPolicy %s/%s restricts where the pods of %s connect to, and no policy%s admits connections to the pods of %s%s%s: add an egress rule with to: "+remedy,
			from.namespace, first, from, v.place("NetworkPolicy", []string{from.namespace}), target, on, why, corev1.LabelMetadataName, target.namespace, also)
	}
	return ""
}

// onPort returns the words for a port that is not among those of the policies.
func onPort(port int32, ports bool) (on, also string) {
	if !ports {
		return "", ""
	}
	return fmt.Sprintf(" on port %d", port), fmt.Sprintf(" and ports: [{port: %d}]", port)
}

// confined returns the first policy for a direction that isolates pods if no policy admits their connections with
// the others to a port of the target; "" when one admits them or may do so. ports is set if only the ports of a
// policy exclude them. why says in parentheses why the first peer that might be meant for them does not admit them.
func (v *View) confined(direction networkingv1.PolicyType, isolated, others, target pods, port int32) (first string, ports bool, why string) {
	for _, policy := range v.policies {
		if policy.Namespace != isolated.namespace || !policy.applies(direction) || !policy.pods.Matches(isolated.labels) {
			continue
		}
		if first == "" {
			first = policy.Name
		}
		for _, rule := range policy.rules(direction) {
			if len(rule.From) > 0 && !slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool { return v.mayAdmit(policy.Namespace, peer, others) }) {
				why = cmp.Or(why, v.excluded(policy.Namespace, rule.From[0], others))
				continue
			}
			if mayBeOpen(rule.Ports, target, port) {
				return "", false, ""
			}
			if direction == networkingv1.PolicyTypeIngress {
				why = cmp.Or(why, otherPorts(rule.Ports))
			}
			ports = ports || len(rule.From) > 0 || direction == networkingv1.PolicyTypeIngress
		}
	}
	return first, ports, why
}

// excluded returns in parentheses why a peer does not admit pods, which it does not.
func (v *View) excluded(namespace string, peer networkingv1.NetworkPolicyPeer, others pods) string {
	switch {
	case peer.NamespaceSelector == nil && others.namespace != namespace:
		return fmt.Sprintf(" (a podSelector without namespaceSelector is for namespace %s only)", namespace)
	case peer.NamespaceSelector != nil && !v.mayBeLabeled(others.namespace, peer.NamespaceSelector):
		return fmt.Sprintf(" (its namespaceSelector requires %s, which namespace %s does not have)", metav1.FormatLabelSelector(peer.NamespaceSelector), others.namespace)
	case peer.PodSelector != nil:
		return fmt.Sprintf(" (its podSelector requires %s, which they do not have)", metav1.FormatLabelSelector(peer.PodSelector))
	}
	return ""
}

// otherPorts returns in parentheses the TCP ports that a rule admits; empty if it admits none by number or name.
func otherPorts(ports []networkingv1.NetworkPolicyPort) string {
	var out []string
	for _, p := range ports {
		if p.Port == nil || p.Protocol != nil && *p.Protocol != corev1.ProtocolTCP {
			continue
		}
		text := p.Port.String()
		if p.EndPort != nil {
			text += fmt.Sprintf("-%d", *p.EndPort)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it admits %s %s, and the ports of policies are those of the pods, not of Services)", report.Plural(len(out), "port"), and(out))
}

// applies reports whether a policy applies to traffic in a direction.
func (p policy) applies(direction networkingv1.PolicyType) bool {
	if len(p.Spec.PolicyTypes) == 0 {
		return direction == networkingv1.PolicyTypeIngress || len(p.Spec.Egress) > 0
	}
	return slices.Contains(p.Spec.PolicyTypes, direction)
}

// rules returns the rules for a direction, with the peers in From.
func (p policy) rules(direction networkingv1.PolicyType) []networkingv1.NetworkPolicyIngressRule {
	if direction == networkingv1.PolicyTypeIngress {
		return p.Spec.Ingress
	}
	var out []networkingv1.NetworkPolicyIngressRule
	for _, rule := range p.Spec.Egress {
		out = append(out, networkingv1.NetworkPolicyIngressRule{From: rule.To, Ports: rule.Ports})
	}
	return out
}

// mayBeOpen reports whether a rule admits TCP to a port of the target, or may do so: none of its ports means all,
// and 0 is an unknown port.
func mayBeOpen(ports []networkingv1.NetworkPolicyPort, target pods, port int32) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		switch {
		case p.Protocol != nil && *p.Protocol != corev1.ProtocolTCP:
			return false
		case p.Port == nil || port == 0:
			return true
		case p.Port.StrVal != "":
			i := slices.IndexFunc(target.ports, func(c corev1.ContainerPort) bool { return c.Name == p.Port.StrVal })
			return i >= 0 && target.ports[i].ContainerPort == port
		case p.EndPort != nil:
			return p.Port.IntVal <= port && port <= *p.EndPort
		}
		return p.Port.IntVal == port
	})
}

// mayAdmit reports whether a peer admits pods, or may do so: IP blocks and unknown labels of
// namespaces might match.
func (v *View) mayAdmit(namespace string, peer networkingv1.NetworkPolicyPeer, from pods) bool {
	if peer.IPBlock != nil {
		return true
	}
	if peer.NamespaceSelector == nil && from.namespace != namespace {
		return false
	}
	if peer.NamespaceSelector != nil && !v.mayBeLabeled(from.namespace, peer.NamespaceSelector) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(peer.PodSelector)
	return err != nil || peer.PodSelector == nil || selector.Matches(from.labels)
}

// mayBeLabeled reports whether a selector matches a namespace, or may do so.
func (v *View) mayBeLabeled(namespace string, s *metav1.LabelSelector) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return true
	}
	set, known := v.namespaceLabels[namespace]
	if !known {
		requirements, _ := selector.Requirements()
		if slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return r.Key() != corev1.LabelMetadataName }) {
			return true
		}
	}
	all := labels.Set{corev1.LabelMetadataName: namespace}
	return selector.Matches(labels.Merge(set, all))
}
