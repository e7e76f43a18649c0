package discovery

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// The addresses and labels that are discovered depend on the release of the workload.
func TestReleases(t *testing.T) {
	var o Objects
	for text, object := range map[string]Object{
		`{metadata: {namespace: demo, name: web}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]}],
		  initContainers: [{name: side, image: i, restartPolicy: Always, ports: [{containerPort: 7000}]}]}, status: {podIP: 10.0.0.1}}`: &corev1.Pod{},
		`{metadata: {namespace: demo, name: web}, spec: {ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4, IPv6], ports: [{port: 80}]}}`: &corev1.Service{},
		`{metadata: {namespace: demo, name: web-4, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{name: "", port: 80}],
		  endpoints: [{addresses: [10.0.0.1], nodeName: n, zone: a, targetRef: {kind: Pod, namespace: demo, name: web}}]}`: &discoveryv1.EndpointSlice{},
		`{metadata: {namespace: demo, name: web-6, labels: {kubernetes.io/service-name: web}}, addressType: IPv6, ports: [{name: "", port: 80}],
		  endpoints: [{addresses: ["fd00::1"]}]}`: &discoveryv1.EndpointSlice{},
		`{metadata: {name: n}, status: {addresses: [{type: InternalIP, address: 10.9.0.1}], conditions: [{type: Ready, status: "True"}]}}`: &corev1.Node{},
	} {
		if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
			t.Fatal(err)
		}
		o.Add(object)
	}
	const (
		zone, node, init, ready = "endpointslice_endpoint_zone", "endpointslice_endpoint_node_name", "pod_container_init", "node_condition_ready"
		pod, sidecar, second    = "10.0.0.1:80", "10.0.0.1:7000", "[fd00::1]:80"
	)
	for _, tc := range []struct {
		release string // "" is the linked release
		want    []string
	}{
		{"2.47.2", []string{"10.9.0.1:0", pod, second}},
		{"2.51.2", []string{"10.9.0.1:0", pod, second}},
		{"2.52.0", []string{"10.9.0.1:0", pod, second, node, zone}},
		{"2.55.1", []string{"10.9.0.1:0", pod, second, node, zone}},
		{"3.0.0", []string{"10.9.0.1:0", pod, second, sidecar, node, zone, init}},
		{"3.10.0", []string{"10.9.0.1:0", pod, second, sidecar, node, zone, init}},
		{"3.11.0", []string{"10.9.0.1:0", pod, sidecar, node, zone, init}},
		{"3.12.0", []string{"10.9.0.1:0", pod, sidecar, node, zone, init, ready}},
		{"", []string{"10.9.0.1:0", pod, sidecar, node, zone, init, ready}},
	} {
		got := map[string]bool{}
		for _, role := range []string{roleEndpointSlice, roleNode} {
			sd := &targets.KubernetesSD{Role: role}
			if tc.release != "" {
				sd.Release = semver.MustParse(tc.release)
			}
			groups, err := o.Groups(sd, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range groups {
				for _, target := range group.Targets {
					got[string(target["__address__"])] = true
					for name := range target.Merge(group.Labels) {
						if short := strings.TrimPrefix(string(name), meta); slices.Contains([]string{zone, node, init, ready}, short) {
							got[short] = true
						}
					}
				}
			}
		}
		slices.Sort(tc.want)
		if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("release %q: %s", tc.release, diff)
		}
	}
	// Role pod has included init containers for much longer.
	groups, err := o.Groups(&targets.KubernetesSD{Role: rolePod, Release: semver.MustParse("2.47.2")}, "")
	if err != nil || len(groups) != 1 || len(groups[0].Targets) != 2 {
		t.Errorf("pods: %v %v", groups, err)
	}
}
