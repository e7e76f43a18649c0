package discoverytest

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TypicalService returns the i-th Service, of the pods from 10·i, and its EndpointSlice. A tenth of the Services have the
// label app=web-3.
func TypicalService(i int) (corev1.Service, discoveryv1.EndpointSlice) {
	meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%05d", i), UID: types.UID(fmt.Sprintf("22222222-3333-4444-5555-%012d", i)), Labels: map[string]string{"app": "web-" + strconv.Itoa(i%10)}}
	slice := discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
	for k := range 10 {
		pod := TypicalPod(10*i + k)
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "demo", Name: pod.Name}})
	}
	return corev1.Service{ObjectMeta: meta}, slice
}

// TypicalPod returns a pod of typical size: two containers with variables, probes and volumes, and
// managed fields.
func TypicalPod(i int) corev1.Pod {
	name := fmt.Sprintf("web-%06d", i)
	container := func(name string, port int32) corev1.Container {
		c := corev1.Container{
			Name: name, Image: "registry.example.com/team/" + name + ":v1.2.3", Ports: []corev1.ContainerPort{{Name: "http-" + name, ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			Resources:      corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}},
			VolumeMounts:   []corev1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready"}}},
		}
		for k := range 12 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", k), Value: "some value that is not short"})
		}
		return c
	}
	status := func(name string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Ready: true, ContainerID: "containerd://" + strings.Repeat("0123456789abcdef", 4), Image: "registry.example.com/team/" + name + ":v1.2.3", ImageID: strings.Repeat("0123456789abcdef", 6)}
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "demo", Name: name, UID: "11111111-2222-3333-4444-555555555555", ResourceVersion: strconv.Itoa(i), GenerateName: "web-",
			Labels:          map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web-" + strconv.Itoa(i%100), "pod-template-hash": "5d4f8c7b9", "team": "shop", "tier": "front"},
			Annotations:     map[string]string{"checksum/config": strings.Repeat("ab", 32), "prometheus.io/scrape": "true"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d4f8c7b9", UID: "1", Controller: new(true)}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:metadata":{}}`, 90))},
				{Manager: "kubelet", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:status":{}}`, 70))},
			},
		},
		Spec: corev1.PodSpec{NodeName: "node-" + strconv.Itoa(i%1000), ServiceAccountName: "web", RestartPolicy: corev1.RestartPolicyAlways, SchedulerName: "default-scheduler",
			Containers:  []corev1.Container{container("server", 8080), container("proxy", 15090)},
			Volumes:     []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, {Name: "token"}},
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists"}, {Key: "node.kubernetes.io/unreachable", Operator: "Exists"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), HostIP: "10.0.0.1",
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}, {Type: corev1.PodScheduled, Status: "True"}, {Type: corev1.PodInitialized, Status: "True"}, {Type: corev1.ContainersReady, Status: "True"}},
			ContainerStatuses: []corev1.ContainerStatus{status("server"), status("proxy")}},
	}
}
