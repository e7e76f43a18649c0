package discovery

import (
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// change is a change of discovery results in a Prometheus release. The builders come from the
// release that is linked, which has all changes.
type change struct {
	since *semver.Version
	roles []string
	// older converts an object to what earlier releases see; nil if objects did not change. of is the role of the objects.
	older func(Object) Object
	of    string
	// labels are prefixes of labels that earlier releases do not add.
	labels []string
}

// changes since 2.47, with the numbers of the Prometheus pull requests.
var changes = []change{
	// 13935
	{since: semver.MustParse("2.52.0"), roles: []string{roleEndpointSlice},
		labels: []string{meta + "endpointslice_endpoint_zone", meta + "endpointslice_endpoint_node_name"}},
	// 14929: ports of sidecars, which are init containers
	{since: semver.MustParse("3.0.0"), roles: []string{roleEndpoints, roleEndpointSlice},
		older: withoutInitContainers, of: rolePod, labels: []string{meta + "pod_container_init"}},
	// 18192: only addresses of the first family in a dual-stack Service
	{since: semver.MustParse("3.11.0"), roles: []string{roleEndpointSlice}, older: withoutFamilies, of: roleService},
	// conditions of nodes
	{since: semver.MustParse("3.12.0"), roles: []string{roleNode}, labels: []string{meta + "node_condition_"}},
}

const meta = "__meta_kubernetes_"

// lacking returns the changes that a release does not have; none for nil, the release that is
// linked.
func lacking(release *semver.Version, role string) (out []change) {
	for _, c := range changes {
		if release != nil && gate.Release(release).LessThan(c.since) && slices.Contains(c.roles, role) {
			out = append(out, c)
		}
	}
	return out
}

// Older are the changes that an older release of Prometheus lacks.
type Older []change

// OlderThan returns the changes that the release of a discovery lacks.
func OlderThan(sd *targets.KubernetesSD) Older { return lacking(sd.Release, sd.Role) }

// Key returns a key that is equal for releases with equal results; empty if no change is lacking.
func (o Older) Key() string {
	var since []string
	for _, c := range o {
		since = append(since, c.since.String())
	}
	return strings.Join(since, " ")
}

// change reports whether the release sees objects of a role differently.
func (o Older) change(role string) bool {
	return slices.ContainsFunc(o, func(c change) bool { return c.older != nil && c.of == role })
}

// See returns an object as the release sees it.
func (o Older) See(object Object) Object { return see(o, []Object{object})[0] }

// Unlabel removes the labels that the release does not add.
func (o Older) Unlabel(group *targetgroup.Group) { unlabel(o, []*targetgroup.Group{group}) }

// see returns objects as a release without these changes sees them.
func see(without []change, objects []Object) []Object {
	for _, c := range without {
		if c.older == nil {
			continue
		}
		for i := range objects {
			if c.of == rolePod {
				objects[i] = Unpack(objects[i]).(Object)
			}
			objects[i] = c.older(objects[i])
		}
	}
	return objects
}

// unlabel removes the labels that a release without these changes does not add.
func unlabel(without []change, groups []*targetgroup.Group) {
	for _, c := range without {
		added := func(name model.LabelName, _ model.LabelValue) bool {
			return slices.ContainsFunc(c.labels, func(label string) bool { return strings.HasPrefix(string(name), label) })
		}
		for _, group := range groups {
			maps.DeleteFunc(group.Labels, added)
			for _, target := range group.Targets {
				maps.DeleteFunc(target, added)
			}
		}
	}
}

func withoutInitContainers(o Object) Object {
	pod, is := o.(*corev1.Pod)
	if !is || len(pod.Spec.InitContainers) == 0 {
		return o
	}
	out := *pod
	out.Spec.InitContainers = nil
	return &out
}

func withoutFamilies(o Object) Object {
	service, is := o.(*corev1.Service)
	if !is || service.Spec.IPFamilyPolicy == nil {
		return o
	}
	out := *service
	out.Spec.IPFamilyPolicy = nil
	return &out
}
