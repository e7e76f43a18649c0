package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Manifests is a [Finder] that discovers targets among manifests.
type Manifests struct {
	objects discovery.Objects
	// addressless are the Pods without an address, as written by hand, of which each has a placeholder for it.
	addressless []*corev1.Pod
}

// AmongManifests returns a finder for Kubernetes objects.
func AmongManifests(all []manifests.Native) *Manifests {
	var out Manifests
	for _, object := range all {
		out.objects.Add(object)
		if p, is := object.(*corev1.Pod); is && p.Status.PodIP == "" && p.Status.Phase == "" {
			p = p.DeepCopy()
			p.Status.PodIP = "0.0.0.0"
			out.addressless = append(out.addressless, p)
		}
	}
	return &out
}

// ofPods are the labels of discovered pods that manifests determine.
var ofPods = []string{
	"__meta_kubernetes_namespace", "__meta_kubernetes_pod_name", "__meta_kubernetes_pod_label_", "__meta_kubernetes_pod_labelpresent_",
	"__meta_kubernetes_pod_annotation_", "__meta_kubernetes_pod_annotationpresent_", "__meta_kubernetes_pod_container_name",
	"__meta_kubernetes_pod_container_init", "__meta_kubernetes_pod_container_port_name", "__meta_kubernetes_pod_container_port_number",
	"__meta_kubernetes_pod_container_port_protocol",
}

// waiting returns a gap for each Pod without an address that a discovery selects. A cluster gives it one.
func (m *Manifests) waiting(sd *targets.KubernetesSD, own string) (out []targets.Gap) {
	for _, p := range m.addressless {
		var alone discovery.Objects
		alone.Add(p)
		groups, err := alone.Groups(sd, own)
		if err != nil {
			return nil
		}
		possible := &targets.Possible{Known: ofPods}
		for _, g := range groups {
			for _, t := range g.Targets {
				possible.Labels = append(possible.Labels, g.Labels.Merge(t))
			}
		}
		if len(possible.Labels) > 0 {
			out = append(out, targets.Gap{State: targets.Unknown, Message: fmt.Sprintf("Pod %s/%s has no address (status.podIP), which a cluster gives it when it runs", p.Namespace, p.Name), Possible: possible})
		}
	}
	return out
}

// hasAny reports whether there are objects in which any role can discover targets.
func (m *Manifests) hasAny() bool {
	for role := range roleKinds {
		if m.objects.Holds(&targets.KubernetesSD{Role: role}, "") {
			return true
		}
	}
	return false
}

// roleKinds are the kinds in which roles discover targets.
var roleKinds = map[string]string{
	"endpoints": "Endpoints", "endpointslice": "EndpointSlice", "pod": "Pod", "service": "Service", "ingress": "Ingress", "node": "Node",
}

// Find implements Finder. If the manifests have no objects of the kind that a job discovers, there
// may be some in a cluster, which is a gap.
func (m *Manifests) Find(_ context.Context, jobs []targets.Job, w *Workload) (found []targets.Found, notes []string, err error) {
	known := map[string]targets.Found{} // many jobs have equal discoveries
	for i := range jobs {
		key := fmt.Sprintf("%+v", jobs[i].Kubernetes)
		one, ok := known[key]
		if !ok {
			one = m.find(&jobs[i], w.Namespace)
			known[key] = one
		}
		found = append(found, one)
	}
	return found, nil, nil
}

func (m *Manifests) find(j *targets.Job, own string) targets.Found {
	out := m.objects.Find(j, own)
	for sd := range discovery.Distinct(j) {
		if sd.Role == "pod" {
			out.Gaps = append(out.Gaps, m.waiting(sd, own)...)
		}
		if kind := roleKinds[sd.Role]; kind != "" && len(out.Gaps) == 0 && !m.objects.Holds(sd, own) {
			out.Gaps = append(out.Gaps, targets.Gap{State: targets.Unknown, Message: fmt.Sprintf("the manifests hold no %s%s, which the job looks for", kind, places(sd, own))})
		}
	}
	return out
}

// places returns the namespaces of a discovery as text; empty for all.
func places(sd *targets.KubernetesSD, own string) string {
	names := discovery.Namespaces(sd, own)
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " in namespace " + names[0]
	}
	names = slices.Sorted(slices.Values(names))
	return " in the namespaces " + strings.Join(names[:min(len(names), maxNamed)], ", ")
}
