package nearmiss

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// ofControllers are labels that controllers add to single pods, which no template has.
var ofControllers = []string{
	appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.DeprecatedTemplateGeneration,
	appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, "job-name", "controller-uid",
}

// maker returns the workload that creates a pod, in the form that a user wrote: a Deployment, not
// its ReplicaSet. For a pod without a controller it returns the pod.
func maker(p *corev1.Pod) (kind, name string) {
	owner := metav1.GetControllerOf(p)
	if owner == nil || owner.Kind == "Node" { // static pods of the kubelet
		return "Pod", p.Name
	}
	if hash := p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; owner.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok {
			return "Deployment", name
		}
	}
	return owner.Kind, owner.Name
}

// pod adds a Pod to the pods of its workload, or on its own if it has none.
func (v *View) pod(o *corev1.Pod) {
	kind, name := maker(o)
	t := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: o.Labels, Annotations: o.Annotations}, Spec: o.Spec}
	if kind == "Pod" {
		v.template(kind, o, t).count(o)
		return
	}
	t.Labels = maps.Clone(o.Labels)
	for _, key := range ofControllers {
		delete(t.Labels, key)
	}
	made := v.made(candidate{kind: kind, namespace: o.Namespace, name: name})
	if made == nil {
		made = v.template(kind, &metav1.ObjectMeta{Namespace: o.Namespace, Name: name}, t)
		made.own, made.made = nil, o.Labels[managedByLabel] == managedBy
	}
	made.others = append(made.others, o.Labels)
	made.count(o)
}

// made returns the pods of a workload, nil when none are known yet.
func (v *View) made(t candidate) *pods {
	if at, known := v.byMaker[t.String()]; known {
		return &v.pods[at]
	}
	return nil
}

// count counts a Pod by its phase. A Pod from a manifest has no phase.
func (p *pods) count(o *corev1.Pod) {
	phase := string(o.Status.Phase)
	if phase == "" {
		return
	}
	if p.phases == nil {
		p.phases = map[string]int{}
	}
	ended := o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed
	switch {
	case o.Status.PodIP != "" && !ended:
		p.running++
	case !ended && o.Status.Phase != corev1.PodPending:
		phase += " without an address"
	}
	p.phases[phase]++
}

// mayRun reports whether one of the pods has an address, or may have one if the phases are unknown.
func (p pods) mayRun() bool { return p.phases == nil || p.running > 0 }

// phasesOf returns the number of pods by phase: "2 Pending and 1 Failed".
func phasesOf(all []pods) string {
	sum := map[string]int{}
	for _, p := range all {
		for phase, n := range p.phases {
			sum[phase] += n
		}
	}
	var out []string
	for _, phase := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, fmt.Sprintf("%d %s", sum[phase], phase))
	}
	return and(out)
}

// matches reports whether a selector selects the candidate or one of the single pods of a workload.
func (t candidate) matches(s labels.Selector) bool {
	return s.Matches(t.labels) || slices.ContainsFunc(t.others, func(set labels.Set) bool { return s.Matches(set) })
}

// managedBy is the value of the label managedByLabel on all objects that the operator creates.
const managedByLabel, managedBy = wellknown.LabelAppManagedBy, wellknown.ManagedBy

// ofOperator reports whether the operator created an object for a workload.
func ofOperator(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return strings.HasPrefix(r.APIVersion, catalog.Prometheus.Group+"/")
	})
}
