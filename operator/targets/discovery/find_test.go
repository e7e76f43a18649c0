package discovery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// cluster returns pods, a Service and its EndpointSlice in two namespaces, and a node.
func cluster(t *testing.T) *Objects {
	t.Helper()
	var o Objects
	add := func(object Object, format string, args ...any) {
		t.Helper()
		if err := yaml.UnmarshalStrict(fmt.Appendf(nil, format, args...), object); err != nil {
			t.Fatal(err)
		}
		o.Add(object)
	}
	for i, ns := range []string{"demo", "prod"} {
		for _, name := range []string{"web", "db"} {
			address := fmt.Sprintf("10.0.%d.%d", i, len(name))
			add(&corev1.Pod{}, `{metadata: {namespace: %s, name: %s, labels: {app: %s}}, spec: {nodeName: n1, containers: [{name: c, image: i, ports: [{name: http, containerPort: 80}]}]}, status: {phase: Running, podIP: %s}}`,
				ns, name, name, address)
			add(&corev1.Service{}, `{metadata: {namespace: %s, name: %s, labels: {app: %s}}, spec: {ports: [{name: http, port: 80}]}}`, ns, name, name)
			add(&discoveryv1.EndpointSlice{}, `{metadata: {namespace: %s, name: %s, labels: {kubernetes.io/service-name: %s}}, addressType: IPv4, ports: [{name: http, port: 80}], endpoints: [{addresses: [%s], targetRef: {kind: Pod, namespace: %s, name: %s}}]}`,
				ns, name, name, address, ns, name)
		}
	}
	add(&corev1.Pod{}, `{metadata: {namespace: demo, name: pending, labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}`)
	add(&corev1.Node{}, `{metadata: {name: n1, labels: {zone: a}}, status: {addresses: [{type: InternalIP, address: 10.1.0.1}], daemonEndpoints: {kubeletEndpoint: {Port: 10250}}}}`)
	return &o
}

// find returns the addresses that a job with one discovery finds, and its gaps.
func find(t *testing.T, o *Objects, sd string) (out []string) {
	t.Helper()
	jobs, err := targets.ReadJobs(promconfig.JobText{Text: []byte("- {job_name: a, kubernetes_sd_configs: [" + sd + "]}"), Origins: make([][]promconfig.Origin, 1)})
	if err != nil {
		t.Fatal(err)
	}
	found := o.Find(&jobs[0], "demo")
	for _, g := range found.Groups {
		for _, target := range g.Targets {
			out = append(out, g.Source+" "+string(target["__address__"]))
		}
	}
	for _, gap := range found.Gaps {
		out = append(out, string(gap.State)+": "+gap.Message)
	}
	return out
}

func TestFind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // builders are stopped
	o := cluster(t)
	for sd, want := range map[string][]string{
		"{role: pod}": {"pod/demo/db 10.0.0.2:80", "pod/demo/web 10.0.0.3:80", "pod/prod/db 10.0.1.2:80", "pod/prod/web 10.0.1.3:80"},
		"{role: pod, namespaces: {names: [prod]}}":       {"pod/prod/db 10.0.1.2:80", "pod/prod/web 10.0.1.3:80"},
		"{role: pod, namespaces: {own_namespace: true}}": {"pod/demo/db 10.0.0.2:80", "pod/demo/web 10.0.0.3:80"},
		"{role: pod, namespaces: {names: [demo, ''], own_namespace: true}}, {role: pod, namespaces: {names: [none]}}": {
			"pod/demo/db 10.0.0.2:80", "pod/demo/web 10.0.0.3:80", "pod/prod/db 10.0.1.2:80", "pod/prod/web 10.0.1.3:80"},
		"{role: pod, namespaces: {names: [demo, demo]}}":                                                          {"pod/demo/db 10.0.0.2:80", "pod/demo/web 10.0.0.3:80"},
		"{role: service, namespaces: {names: [demo]}}, {role: service, namespaces: {names: [demo]}}":              {"svc/demo/db db.demo.svc:80", "svc/demo/web web.demo.svc:80"},
		"{role: pod, namespaces: {names: [none]}}":                                                                nil,
		"{role: pod, selectors: [{role: pod, label: app=web}]}":                                                   {"pod/demo/web 10.0.0.3:80", "pod/prod/web 10.0.1.3:80"},
		"{role: pod, selectors: [{role: pod, label: 'app!=web', field: 'metadata.namespace=prod'}]}":              {"pod/prod/db 10.0.1.2:80"},
		"{role: pod, selectors: [{role: pod, field: 'spec.nodeName!=n1'}]}":                                       nil,
		"{role: pod, namespaces: {names: [demo]}, selectors: [{role: pod, field: 'spec.nodeName=$(NODE_NAME)'}]}": {"pod/demo/db 10.0.0.2:80", "pod/demo/web 10.0.0.3:80"},
		"{role: pod, selectors: [{role: service, label: app=none}]}":                                              {"pod/demo/db 10.0.0.2:80", "pod/demo/web 10.0.0.3:80", "pod/prod/db 10.0.1.2:80", "pod/prod/web 10.0.1.3:80"},
		"{role: pod, selectors: [{role: pod, field: spec.priority=1}]}":                                           {`unknown: kubernetes discovery: field selector of role pod: field "spec.priority" is not known`},
		"{role: pod, selectors: [{role: pod, label: 'a in b'}]}":                                                  {`unknown: kubernetes discovery: label selector of role pod: `},
		"{role: endpointslice, namespaces: {names: [demo]}}":                                                      {"endpointslice/demo/db 10.0.0.2:80", "endpointslice/demo/web 10.0.0.3:80"},
		"{role: endpoints, namespaces: {names: [demo]}}":                                                          {"unknown: the job discovers Endpoints, and only EndpointSlices were given"},
		"{role: endpoints, namespaces: {names: [none]}}":                                                          nil,
		"{role: service, namespaces: {names: [demo]}}":                                                            {"svc/demo/db db.demo.svc:80", "svc/demo/web web.demo.svc:80"},
		"{role: node, namespaces: {names: [none]}}":                                                               {"node/n1 10.1.0.1:10250"},
		"{role: node, selectors: [{role: node, label: zone=b}]}":                                                  nil,
		"{role: ingress}": nil,
		"{role: gateway}": {`unknown: kubernetes discovery: role "gateway" does not exist`},
		"{role: pod, api_server: 'https://other:6443'}": {"unknown: the job discovers targets in the cluster of https://other:6443"},
		"{role: pod, kubeconfig_file: /etc/other}":      {"unknown: the job discovers targets in the cluster of /etc/other"},
	} {
		got := find(t, o, sd)
		if len(got) == 1 && len(want) == 1 && strings.HasSuffix(want[0], ": ") && strings.HasPrefix(got[0], want[0]) {
			continue // the rest is the library's message
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", sd, diff)
		}
	}
}

// Labels of the node are added if the job requests them.
func TestAttachedMetadata(t *testing.T) {
	o := cluster(t)
	for _, node := range []bool{false, true} {
		groups, err := o.Groups(&targets.KubernetesSD{Role: rolePod, AttachMetadata: targets.AttachMetadata{Node: node}}, "")
		if err != nil || len(groups) != 4 {
			t.Fatalf("%d groups, %v", len(groups), err)
		}
		want := map[bool]string{true: "a"}[node]
		if got := groups[0].Labels["__meta_kubernetes_node_label_zone"]; string(got) != want {
			t.Errorf("zone %q, want %q", got, want)
		}
	}
}

// A job and objects lead to a target with its labels.
func TestFoundTargetIsScraped(t *testing.T) {
	text := "- {job_name: a, kubernetes_sd_configs: [{role: endpointslice, namespaces: {names: [demo]}}], relabel_configs: [" +
		"{action: keep, source_labels: [__meta_kubernetes_service_label_app], regex: web}, {source_labels: [__meta_kubernetes_pod_name], target_label: pod}]}"
	jobs, err := targets.ReadJobs(promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{{{Path: "first"}, {Path: "second"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range jobs[0].Evaluate(cluster(t).Find(&jobs[0], "")).Targets() {
		line := fmt.Sprint(target.State, " ", target.URL, " ", target.Source.Pod, " ", target.Labels["pod"])
		if target.Drop != nil {
			line += " by " + target.Drop.Origin
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"dropped http://10.0.0.2:80/metrics db  by first", "kept http://10.0.0.3:80/metrics web web"}, got); diff != "" {
		t.Error(diff)
	}
}
