package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Manifests is a [Finder] that discovers targets among manifests.
type Manifests struct{ objects discovery.Objects }

// AmongManifests returns a finder for Kubernetes objects.
func AmongManifests(all []manifests.Native) *Manifests {
	var out Manifests
	for _, object := range all {
		out.objects.Add(object)
	}
	return &out
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
