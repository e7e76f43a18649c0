package discovery

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trimmed returns a copy of an object with the fields that discovered labels and selectors use, or
// the object itself if discovery does not use its kind.
func Trimmed(object Object) Object {
	if _, out := trim(object); out != nil {
		return out
	}
	return object
}

// trim returns the role of an object and a copy with the fields that discovered labels and
// selectors use; "" for kinds that discovery does not use. Small kinds only lose their managed
// fields.
func trim(object Object) (role string, out Object) {
	if role = roleOf(object); role == "" {
		return "", nil
	}
	switch o := object.(type) {
	case *corev1.Pod:
		return role, trimPod(o)
	case *corev1.Node:
		return role, trimNode(o)
	}
	out = object.DeepCopyObject().(Object)
	out.SetManagedFields(nil)
	return role, out
}

func trimMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Labels: m.Labels, Annotations: m.Annotations, OwnerReferences: m.OwnerReferences,
	}
}

func trimPod(p *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: trimMeta(p.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName: p.Spec.NodeName, RestartPolicy: p.Spec.RestartPolicy, SchedulerName: p.Spec.SchedulerName,
			ServiceAccountName: p.Spec.ServiceAccountName, HostNetwork: p.Spec.HostNetwork,
			Containers: trimContainers(p.Spec.Containers), InitContainers: trimContainers(p.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase: p.Status.Phase, PodIP: p.Status.PodIP, HostIP: p.Status.HostIP, NominatedNodeName: p.Status.NominatedNodeName,
			ContainerStatuses: trimStatuses(p.Status.ContainerStatuses), InitContainerStatuses: trimStatuses(p.Status.InitContainerStatuses),
		},
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
		}
	}
	return out.DeepCopy()
}

func trimContainers(in []corev1.Container) (out []corev1.Container) {
	for i := range in {
		out = append(out, corev1.Container{Name: in[i].Name, Image: in[i].Image, Ports: in[i].Ports})
	}
	return out
}

func trimStatuses(in []corev1.ContainerStatus) (out []corev1.ContainerStatus) {
	for i := range in {
		out = append(out, corev1.ContainerStatus{Name: in[i].Name, ContainerID: in[i].ContainerID})
	}
	return out
}

func trimNode(n *corev1.Node) *corev1.Node {
	out := &corev1.Node{
		ObjectMeta: trimMeta(n.ObjectMeta),
		Spec:       corev1.NodeSpec{ProviderID: n.Spec.ProviderID, Unschedulable: n.Spec.Unschedulable},
		Status:     corev1.NodeStatus{Addresses: n.Status.Addresses, DaemonEndpoints: n.Status.DaemonEndpoints},
	}
	for _, c := range n.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status})
	}
	return out.DeepCopy()
}
