package nearmiss

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// policy is a NetworkPolicy that isolates pods, with its selector.
type policy struct {
	*networkingv1.NetworkPolicy
	pods labels.Selector
}

// policy adds a NetworkPolicy, unless it is for egress only.
func (v *View) policy(o *networkingv1.NetworkPolicy) {
	selector, err := metav1.LabelSelectorAsSelector(&o.Spec.PodSelector)
	if err == nil && forIngress(o) {
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
	return once(out)
}

// blocked returns notes about pods that NetworkPolicies isolate from the pods of a workload.
// isolated caches the policy that isolates pods, by their String.
func (v *View) blocked(w v1.Workload, s *Search, isolated map[string]string) []Hint {
	if len(v.policies) == 0 || !s.forServices() && s.Role != rolePod || s.Elsewhere {
		return nil
	}
	from := slices.IndexFunc(v.pods, func(p pods) bool {
		return p.made && p.namespace == w.GetNamespace() && p.labels[wellknown.LabelAppInstance] == w.GetName() && p.labels[managedByLabel] == managedBy
	})
	if from < 0 {
		return nil
	}
	for _, p := range v.foundPorts(s) {
		for _, target := range p.behind {
			policy, known := isolated[target.String()]
			if !known {
				policy = v.isolates(target, v.pods[from])
				isolated[target.String()] = policy
			}
			if policy == "" {
				continue
			}
			return []Hint{{Code: Remark, Note: true, Field: s.objectField(), Message: fmt.Sprintf(
				"NetworkPolicy %s/%s isolates the pods of %s, and no policy%s admits the pods of %s: "+
					"add an ingress rule with from: [{namespaceSelector: {matchLabels: {%s: %s}}}]",
				target.namespace, policy, target, v.place("NetworkPolicy", []string{target.namespace}), v.pods[from], corev1.LabelMetadataName, w.GetNamespace())}}
		}
	}
	return nil
}

// isolates returns the first policy that isolates the target pods if no policy admits from; "" when
// one admits them or may do so.
func (v *View) isolates(target, from pods) (first string) {
	for _, policy := range v.policies {
		if policy.Namespace != target.namespace || !policy.pods.Matches(target.labels) {
			continue
		}
		if first == "" {
			first = policy.Name
		}
		for _, rule := range policy.Spec.Ingress {
			if len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool { return v.mayAdmit(policy.Namespace, peer, from) }) {
				return ""
			}
		}
	}
	return first
}

// forIngress reports whether a policy applies to incoming traffic.
func forIngress(p *networkingv1.NetworkPolicy) bool {
	return len(p.Spec.PolicyTypes) == 0 || slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeIngress)
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
