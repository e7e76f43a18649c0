package targets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// job compiles the first job of a ServiceMonitor for a Prometheus, each given by its spec.
func job(t testing.TB, prometheus, monitor string) *Job {
	t.Helper()
	return &jobs(t, prometheus, monitor)[0]
}

// jobs compiles a monitor and returns the jobs of all its endpoints.
func jobs(t testing.TB, prometheus, monitor string) []Job {
	t.Helper()
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "k8s"}}
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	for text, into := range map[string]any{prometheus: &p.Spec, monitor: &m.Spec} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	s, err := promconfig.ServerSettings(p, promconfig.Capabilities{EndpointSlice: true, ShardRetention: true, TopologySharding: true, PodTopologyLabels: true})
	if err != nil {
		t.Fatal(err)
	}
	f := promconfig.CompileServiceMonitor(m, s.WithOrigins(), &assets.Static{})
	if f.Err != nil {
		t.Fatal(f.Err)
	}
	frame, err := promconfig.CompileServer(p, s, nil, &assets.Static{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ReadJobs(promconfig.JobText{Text: f.YAML, Origins: f.Origins, Head: frame.Head, Shards: s.ShardVariables()})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const (
	slices1 = "{serviceDiscoveryRole: EndpointSlice}"
	http    = "{selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}"
)

// endpoint returns the discovered labels of an address of Service web, overridden by differs.
func endpoint(address string, differs map[string]string) *targetgroup.Group {
	own := model.LabelSet{
		"__address__":                                             model.LabelValue(address),
		"__meta_kubernetes_namespace":                             "demo",
		"__meta_kubernetes_endpointslice_name":                    "web-abcde",
		"__meta_kubernetes_endpointslice_port_name":               "http",
		"__meta_kubernetes_endpointslice_address_target_kind":     "Pod",
		"__meta_kubernetes_endpointslice_address_target_name":     "web-0",
		"__meta_kubernetes_service_name":                          "web",
		"__meta_kubernetes_service_label_app":                     "web",
		"__meta_kubernetes_service_labelpresent_app":              "true",
		"__meta_kubernetes_pod_name":                              "web-0",
		"__meta_kubernetes_pod_node_name":                         "n1",
		"__meta_kubernetes_pod_phase":                             "Running",
		"__meta_kubernetes_pod_container_name":                    "server",
		"__meta_kubernetes_pod_label_topology_kubernetes_io_zone": "a",
	}
	for name, value := range differs {
		own[model.LabelName(name)] = model.LabelValue(value)
	}
	return &targetgroup.Group{Targets: []model.LabelSet{own}, Source: "endpointslice/demo/web-abcde"}
}

func TestKeptTarget(t *testing.T) {
	got := job(t, slices1, http).Evaluate(Found{Groups: []*targetgroup.Group{endpoint("10.0.0.7:8080", nil)}}).Targets()[0]
	if got.ID == "" || got.Discovered["__scrape_interval__"] != "30s" {
		t.Errorf("id %q, discovered %v", got.ID, got.Discovered)
	}
	got.ID, got.Discovered = "", nil
	want := Target{
		Job: "serviceMonitor/demo/web/0", State: Kept, URL: "http://10.0.0.7:8080/metrics", Shards: []int{0},
		Source: Source{Kind: "EndpointSlice", Namespace: "demo", Name: "web-abcde", Pod: "web-0", Node: "n1"},
		Labels: map[string]string{"container": "server", "endpoint": "http", "instance": "10.0.0.7:8080", "job": "web",
			"namespace": "demo", "pod": "web-0", "service": "web"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The reason for a dropped target names the field that the user wrote.
func TestDropReasons(t *testing.T) {
	for name, tc := range map[string]struct {
		prometheus, monitor string
		differs             map[string]string
		want                Drop
	}{
		"a label of the Service": {slices1, http, map[string]string{"__meta_kubernetes_service_label_app": "db"}, Drop{
			Step: 2, Origin: `spec.selector.matchLabels["app"]`, Value: "db;true",
			Rule: Rule{Action: "keep", Regex: "(web);true",
				SourceLabels: []string{"__meta_kubernetes_service_label_app", "__meta_kubernetes_service_labelpresent_app"}},
			Message: `spec.selector.matchLabels["app"] selects targets whose label app of the Service is web; it is "db"`,
		}},
		"no such label": {slices1, http, map[string]string{"__meta_kubernetes_service_label_app": "", "__meta_kubernetes_service_labelpresent_app": ""}, Drop{
			Step: 2, Origin: `spec.selector.matchLabels["app"]`, Value: ";",
			Rule: Rule{Action: "keep", Regex: "(web);true",
				SourceLabels: []string{"__meta_kubernetes_service_label_app", "__meta_kubernetes_service_labelpresent_app"}},
			Message: `spec.selector.matchLabels["app"] selects targets whose label app of the Service is web; it is not set`,
		}},
		"the label must not exist": {slices1, "{selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}, endpoints: [{port: http}]}", nil, Drop{
			Step: 2, Origin: "spec.selector.matchExpressions[0]", Value: "true",
			Rule:    Rule{Action: "drop", Regex: "true", SourceLabels: []string{"__meta_kubernetes_service_labelpresent_app"}},
			Message: `spec.selector.matchExpressions[0] selects targets without the label app of the Service, which this one has`,
		}},
		"another port": {slices1, http, map[string]string{"__meta_kubernetes_endpointslice_port_name": "admin"}, Drop{
			Step: 3, Origin: "spec.endpoints[0].port", Value: "admin",
			Rule:    Rule{Action: "keep", Regex: "http", SourceLabels: []string{"__meta_kubernetes_endpointslice_port_name"}},
			Message: `spec.endpoints[0].port keeps targets whose port name of the Service matches "http"; it is "admin"`,
		}},
		"the pod has ended": {slices1, http, map[string]string{"__meta_kubernetes_pod_phase": "Succeeded"}, Drop{
			Step: 10, Origin: "operator: pods that ended", Value: "Succeeded",
			Rule:    Rule{Action: "drop", Regex: "(Failed|Succeeded)", SourceLabels: []string{"__meta_kubernetes_pod_phase"}},
			Message: `the Pod has ended (phase Succeeded); filterRunning: false keeps such targets`,
		}},
		"a relabeling": {slices1, "{selector: {}, endpoints: [{relabelings: [{targetLabel: a, replacement: b}, {sourceLabels: [a, pod], regex: 'b;web-.+', action: Drop}]}]}", nil, Drop{
			Step: 11, Origin: "spec.endpoints[0].relabelings[1]", Value: "b;web-0",
			Rule:    Rule{Action: "drop", Regex: "b;web-.+", SourceLabels: []string{"a", "pod"}},
			Message: `spec.endpoints[0].relabelings[1] drops targets whose label a and label pod matches "b;web-.+"; it is "b;web-0"`,
		}},
		"a zone without shards": {"{serviceDiscoveryRole: EndpointSlice, shards: 2, shardingStrategy: {mode: Topology, topology: {values: [b, c]}}}", http,
			map[string]string{"__meta_kubernetes_pod_labelpresent_topology_kubernetes_io_zone": "true"}, Drop{
				Step: 17, Origin: "operator: sharding", Value: "a;",
				Rule:    Rule{Action: "keep", Regex: "b;|.+;.+", SourceLabels: []string{"__tmp_topology", "__tmp_disable_sharding"}},
				Message: `no shard scrapes it: the workload has no shard in its zone "a"`,
			}},
	} {
		t.Run(name, func(t *testing.T) {
			got := job(t, tc.prometheus, tc.monitor).Evaluate(Found{Groups: []*targetgroup.Group{endpoint("10.0.0.7:8080", tc.differs)}})
			target := got.Target(0)
			if target.State != Dropped || target.Drop == nil || target.URL != "http://10.0.0.7:8080/metrics" || len(target.Shards) > 0 {
				t.Fatalf("got %+v", target)
			}
			drop := *target.Drop
			if drop.Want == "" && drop.Found != drop.Message || drop.Want != "" && drop.Message != strings.TrimSuffix(drop.Origin+" "+drop.Want+"; "+drop.Found, "; ") {
				t.Errorf("%q is not made of %q and %q", drop.Message, drop.Want, drop.Found)
			}
			drop.Want, drop.Found = "", ""
			if diff := cmp.Diff(tc.want, drop); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]int{tc.want.Origin: 1}, got.DroppedBy()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each target is on exactly one shard unless it requests all.
func TestShards(t *testing.T) {
	var groups []*targetgroup.Group
	for i := range 100 {
		groups = append(groups, endpoint(fmt.Sprintf("10.0.0.%d:8080", i), nil))
	}
	prometheus := "{serviceDiscoveryRole: EndpointSlice, shards: 4}"
	result := job(t, prometheus, http).Evaluate(Found{Groups: groups})
	per := map[int]int{}
	for _, target := range result.Targets() {
		if target.State != Kept || len(target.Shards) != 1 {
			t.Fatalf("%s: %s on %v", target.URL, target.State, target.Shards)
		}
		per[target.Shards[0]]++
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3}, slices.Sorted(maps.Keys(per))); diff != "" {
		t.Error(diff)
	}
	if got := result.OnShard(2).Counts(); got[Kept] != per[2] || got[OtherShard] != 100-per[2] {
		t.Errorf("shard 2 sees %v, has %d", got, per[2])
	}
	all := "{selector: {}, endpoints: [{relabelings: [{targetLabel: __tmp_disable_sharding, replacement: 'true'}]}]}"
	for _, target := range job(t, prometheus, all).Evaluate(Found{Groups: groups}).Targets() {
		if !slices.Equal(target.Shards, []int{0, 1, 2, 3}) {
			t.Errorf("%s is on %v", target.URL, target.Shards)
		}
	}
}

func TestStates(t *testing.T) {
	two := []*targetgroup.Group{endpoint("10.0.0.7:8080", nil), endpoint("10.0.0.8:8080", nil)}
	for name, tc := range map[string]struct {
		monitor string
		found   Found
		states  []State
		message string // of the last one
	}{
		"both": {http, Found{Groups: two}, []State{Kept, Kept}, ""},
		"the same labels and URL": {"{selector: {}, endpoints: [{relabelings: [{targetLabel: __address__, replacement: 'a:1'}]}]}", Found{Groups: two},
			[]State{Kept, Duplicate}, "another target of the job has the same labels and URL"},
		"the same URL and other labels": {"{selector: {}, endpoints: [{relabelings: [{sourceLabels: [__address__], targetLabel: instance}, {targetLabel: __address__, replacement: 'a:1'}]}]}",
			Found{Groups: two}, []State{Kept, Kept}, ""},
		"too many": {"{selector: {}, targetLimit: 1, endpoints: [{}]}", Found{Groups: two}, []State{OverLimit, OverLimit},
			"the job has 2 targets on shard 0 and targetLimit is 1: none of them is scraped"},
		"as many as the limit": {"{selector: {}, targetLimit: 2, endpoints: [{}]}", Found{Groups: two}, []State{Kept, Kept}, ""},
		"no address":           {"{selector: {}, endpoints: [{relabelings: [{action: labeldrop, regex: __address__}]}]}", Found{Groups: two[:1]}, []State{Invalid}, "no address"},
		"timeout above the interval": {"{selector: {}, endpoints: [{relabelings: [{targetLabel: __scrape_interval__, replacement: 5s}]}]}", Found{Groups: two[:1]}, []State{Invalid},
			`scrape timeout cannot be greater than scrape interval ("10s" > "5s")`},
		"nothing found":   {http, Found{}, nil, ""},
		"may not look":    {http, Found{Gaps: []Gap{{State: Forbidden, Message: "no permission to list pods in demo"}}}, []State{Forbidden}, "no permission to list pods in demo"},
		"not looked at":   {http, Found{Groups: two[:1], Gaps: []Gap{{State: Unknown, Message: "dns"}}}, []State{Kept, Unknown}, "dns"},
		"labels of nodes": {"{selector: {}, endpoints: [{relabelings: [{action: labelmap, regex: __meta_kubernetes_pod_(.+)}]}]}", Found{Groups: two}, []State{Kept, Kept}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var states []State
			message := ""
			result := job(t, slices1, tc.monitor).Evaluate(tc.found)
			for _, target := range result.Targets() {
				states = append(states, target.State)
				message = target.Message
				if (target.State == Kept) != (len(target.Shards) > 0) || target.Shards == nil {
					t.Errorf("%s is on %v", target.State, target.Shards)
				}
			}
			if diff := cmp.Diff(tc.states, states); diff != "" {
				t.Error(diff)
			}
			if message != tc.message {
				t.Errorf("message %q, want %q", message, tc.message)
			}
			for _, target := range result.Targets() {
				if target.State == Duplicate && target.Winner != result.Target(0).ID {
					t.Errorf("winner %q", target.Winner)
				}
			}
		})
	}
}

// The data that is kept of each target to find duplicates is short, even if its labels are long.
func TestLongLabels(t *testing.T) {
	group := &targetgroup.Group{Source: "endpointslice/demo/web-abcde"}
	for _, address := range []string{"10.0.0.7:8080", "10.0.0.8:8080", "10.0.0.7:8080"} {
		group.Targets = append(group.Targets, endpoint(address, nil).Targets...)
	}
	for _, n := range []int{1, longKey, 100_000} {
		long := strings.Repeat("x", n)
		out := job(t, slices1, "{selector: {}, endpoints: [{relabelings: [{targetLabel: team, replacement: "+long+"}]}]}").Outcomes(group)
		if out[0].State != Kept || out[1].State != Kept || out[2].State != Duplicate || out[0].Keys[0] == out[1].Keys[0] {
			t.Errorf("label of %d bytes: %v %v %v", n, out[0].State, out[1].State, out[2].State)
		}
		if size := len(out[0].Keys[0]); size > longKey {
			t.Errorf("label of %d bytes: a key has %d bytes", n, size)
		}
	}
}
