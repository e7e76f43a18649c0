package lint

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// podLabelsOf returns the labels of the pods of an outcome.
func podLabelsOf(made dryrun.Outcome) (out map[string]string) {
	for _, s := range made.Plan.Workload {
		switch object := s.Object.(type) {
		case *appsv1.StatefulSet:
			out = object.Spec.Template.Labels
		case *appsv1.DaemonSet:
			out = object.Spec.Template.Labels
		}
	}
	return out
}

// placementRemarks reports rules that are to keep the pods of a workload apart and do not select them. own are the labels of
// the pods, and pod has the rules as they are written for them.
func placementRemarks(say says, f *v1.WorkloadFields, namespace string, own map[string]string, pod *corev1.PodSpec) {
	if a := f.Affinity; a != nil && a.PodAntiAffinity != nil {
		const path = "spec.affinity.podAntiAffinity."
		for i, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			apartRemark(say, faults.Index(path+"requiredDuringSchedulingIgnoredDuringExecution", i)+".labelSelector", namespace, own, &term)
		}
		for i, term := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			apartRemark(say, faults.Index(path+"preferredDuringSchedulingIgnoredDuringExecution", i)+".podAffinityTerm.labelSelector", namespace, own, &term.PodAffinityTerm)
		}
	}
	for i, c := range pod.TopologySpreadConstraints {
		if why := unselected(c.LabelSelector, own); why != "" {
			say(fmt.Sprintf("spec.topologySpreadConstraints[%d].labelSelector", i), "selects none of the pods of this workload, so it does not spread them: %s", why)
		}
	}
}

// apartRemark reports a term of an anti-affinity for the pods of a workload that does not select them.
func apartRemark(say says, field, namespace string, own map[string]string, term *corev1.PodAffinityTerm) {
	if term.NamespaceSelector != nil || len(term.Namespaces) > 0 && !slices.Contains(term.Namespaces, namespace) {
		return
	}
	if why := unselected(term.LabelSelector, own); why != "" {
		say(field, "selects none of the pods of this workload, so they may run on one node: %s", why)
	}
}

// unselected returns how to change a selector so that it selects pods with these labels; empty if it selects them, or is
// probably for other pods. Older operators gave pods the label app.
func unselected(s *metav1.LabelSelector, own map[string]string) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || s == nil || isLarge(s) || selector.Matches(labels.Set(own)) {
		return ""
	}
	wanted := map[string]string{}
	for key, value := range s.MatchLabels {
		wanted[key] = value
	}
	for _, e := range s.MatchExpressions {
		if e.Operator != metav1.LabelSelectorOpIn || len(e.Values) != 1 {
			return ""
		}
		wanted[e.Key] = e.Values[0]
	}
	if _, has := own["app"]; has || wanted["app"] == "" || wanted["app"] != own[wellknown.LabelAppName] {
		return ""
	}
	return nearmiss.CorrectedLabels(wanted, own)
}
