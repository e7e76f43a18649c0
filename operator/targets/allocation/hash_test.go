package allocation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	_ "github.com/prometheus/prometheus/discovery/kubernetes" // its key in scrape jobs
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/scrape"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// random generates workloads, monitors and targets.
type random struct{ *rand.Rand }

func (r random) of(words ...string) string { return words[r.IntN(len(words))] }

// prometheus returns a server with up to 50 shards, in any mode of sharding.
func (r random) prometheus(t *testing.T) *v1.Prometheus {
	t.Helper()
	shards := 1 + r.IntN(50)
	text := fmt.Sprintf("shards: %d, serviceDiscoveryRole: %s", shards, r.of("Endpoints", "EndpointSlice"))
	if zones := []string{"a", "b", "c"}[:1+r.IntN(3)]; shards >= len(zones) && r.IntN(2) == 0 {
		text += fmt.Sprintf(", shardingStrategy: {mode: Topology, topology: {values: [%s]}}", strings.Join(zones, ", "))
	}
	if r.IntN(2) == 0 {
		text += ", shardRetentionPolicy: {whenScaled: Retain}"
	}
	out := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "k8s"}}
	read(t, "{"+text+"}", &out.Spec)
	return out
}

// relabelings returns steps of a user, some of which set the labels that sharding reads.
func (r random) relabelings() string {
	var out []string
	for range r.IntN(4) {
		out = append(out, r.of(
			"{sourceLabels: [__meta_kubernetes_pod_name], targetLabel: __tmp_hash}",
			"{sourceLabels: [__meta_kubernetes_pod_label_key], targetLabel: __tmp_hash}",
			"{sourceLabels: [__meta_kubernetes_pod_label_all], regex: 'yes', targetLabel: __tmp_disable_sharding, replacement: x}",
			"{sourceLabels: [__meta_kubernetes_pod_label_key], regex: '(.+)', targetLabel: __address__, replacement: '$1:80'}",
			"{sourceLabels: [__address__], targetLabel: __param_target}",
			"{sourceLabels: [__meta_kubernetes_pod_label_key], regex: 'k1.*', action: drop}",
			"{action: labelmap, regex: '__meta_kubernetes_pod_label_(key|all)', replacement: 'copy_$1'}",
			"{sourceLabels: [__meta_kubernetes_pod_label_key], targetLabel: __tmp_topology, regex: 'k2.*', replacement: b}",
		))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// compiled returns the jobs of a random monitor, with their text.
func (r random) compiled(t *testing.T) promconfig.JobText {
	t.Helper()
	p := r.prometheus(t)
	s, err := promconfig.ServerSettings(p, promconfig.Capabilities{EndpointSlice: true, ShardRetention: r.IntN(2) == 0, TopologySharding: true, PodTopologyLabels: r.IntN(2) == 0})
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Namespace: "demo", Name: "web"}
	var f promconfig.Fragment
	switch steps := r.relabelings(); r.IntN(3) {
	case 0:
		m := &v1.ServiceMonitor{ObjectMeta: meta}
		read(t, "{selector: {}, endpoints: [{relabelings: "+steps+"}]}", &m.Spec)
		f = promconfig.CompileServiceMonitor(m, s.WithOrigins(), &assets.Static{})
	case 1:
		m := &v1.PodMonitor{ObjectMeta: meta}
		read(t, "{selector: {}, podMetricsEndpoints: [{relabelings: "+steps+"}]}", &m.Spec)
		f = promconfig.CompilePodMonitor(m, s.WithOrigins(), &assets.Static{})
	default:
		m := &v1.Probe{ObjectMeta: meta}
		read(t, "{prober: {url: 'prober:9115'}, targets: {ingress: {selector: {}, relabelingConfigs: "+steps+"}}}", &m.Spec)
		f = promconfig.CompileProbe(m, s.WithOrigins(), &assets.Static{})
	}
	if f.Err != nil {
		t.Fatal(f.Err)
	}
	frame, err := promconfig.CompileServer(p, s, nil, &assets.Static{})
	if err != nil {
		t.Fatal(err)
	}
	return promconfig.JobText{Text: f.YAML, Origins: f.Origins, Head: frame.Head, Shards: s.ShardVariables()}
}

// group returns a group of random targets.
func (r random) group() *targetgroup.Group {
	out := &targetgroup.Group{Source: "pod/demo/web", Labels: model.LabelSet{"__meta_kubernetes_namespace": "demo"}}
	for range r.IntN(60) {
		target := model.LabelSet{
			"__address__":                             model.LabelValue(fmt.Sprintf("10.%d.%d.%d:8080", r.IntN(9), r.IntN(9), r.IntN(256))),
			"__meta_kubernetes_pod_name":              model.LabelValue(fmt.Sprintf("web-%d", r.IntN(1000))),
			"__meta_kubernetes_ingress_host":          model.LabelValue(fmt.Sprintf("h%d.example", r.IntN(1000))),
			"__meta_kubernetes_ingress_path":          "/",
			"__meta_kubernetes_ingress_scheme":        "https",
			"__meta_kubernetes_pod_label_key":         model.LabelValue(r.of("", "k1", "k2", "k3")),
			"__meta_kubernetes_pod_label_all":         model.LabelValue(r.of("", "no", "yes")),
			"__meta_kubernetes_pod_label_unread":      "never read by a step",
			"__meta_kubernetes_pod_annotation_unread": "neither",
		}
		zone := model.LabelValue(r.of("a", "b", "c", "d"))
		for _, object := range []string{"pod", "node"} {
			if r.IntN(2) == 0 {
				target[model.LabelName("__meta_kubernetes_"+object+"_label_topology_kubernetes_io_zone")] = zone
				target[model.LabelName("__meta_kubernetes_"+object+"_labelpresent_topology_kubernetes_io_zone")] = "true"
			}
		}
		if r.IntN(2) == 0 {
			target["__meta_kubernetes_endpointslice_endpoint_zone"] = zone
		}
		out.Targets = append(out.Targets, target)
	}
	return out
}

func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// servers returns the jobs as the servers of each shard load them: by the configuration package of
// Prometheus, with the variables that pods substitute.
func servers(t *testing.T, d promconfig.JobText) (out [][]*config.ScrapeConfig) {
	t.Helper()
	for _, variables := range d.Shards {
		text := string(d.Text)
		for name, value := range variables {
			text = strings.ReplaceAll(text, "$("+name+")", value)
		}
		loaded, err := config.Load("scrape_configs:\n"+text, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		out = append(out, loaded.ScrapeConfigs)
	}
	return out
}

// final returns the labels of a target after the relabel steps of a server, "" if one drops it.
func final(c *config.ScrapeConfig, own, shared model.LabelSet) string {
	lb := labels.NewBuilder(labels.EmptyLabels())
	scrape.PopulateDiscoveredLabels(lb, c, own, shared)
	if !relabel.ProcessBuilder(lb, c.RelabelConfigs...) {
		return ""
	}
	lb.Range(func(l labels.Label) {
		if strings.HasPrefix(l.Name, model.MetaLabelPrefix) {
			lb.Del(l.Name)
		}
	})
	return lb.Labels().String()
}

// Each target is placed on exactly the shards whose servers keep it with the generated relabel steps,
// and a server gives the same labels to a target without the labels that its steps do not read.
func TestByHashIsHashmod(t *testing.T) {
	kept, everywhere, dropped, modes := 0, 0, 0, map[string]int{}
	for seed := range uint64(80) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		d := r.compiled(t)
		jobs, err := targets.ReadJobs(d)
		if err != nil {
			t.Fatalf("%v\n%s", err, d.Text)
		}
		shards := servers(t, d)
		group := r.group()
		for _, mark := range []string{"__tmp_current_shard", "TOPOLOGY_ZONE", "__param_target", "target_label: __tmp_disable_sharding"} {
			if strings.Contains(string(d.Text), mark) {
				modes[mark]++
			}
		}
		for i := range jobs {
			outcomes := jobs[i].Outcomes(group)
			got := allocation.ByHash(jobs[i].Shards(), outcomes)
			reads := jobs[i].ReadLabels()
			want := make([][]int, len(shards))
			on := make([]int, len(group.Targets))
			for shard, of := range shards {
				seen := map[string]bool{}
				for k, own := range group.Targets {
					labels := final(of[i], own, group.Labels)
					if small := final(of[i], reads.Target(own, group.Labels), nil); small != labels {
						t.Fatalf("seed %d, %v: labels %s, with the labels that are read %s\n%s", seed, own, labels, small, d.Text)
					}
					if labels != "" && !seen[labels] { // servers scrape equal targets once
						seen[labels] = true
						want[shard] = append(want[shard], k)
						on[k]++
					}
				}
			}
			if diff := cmp.Diff(want, got.Shards); diff != "" {
				t.Fatalf("seed %d: (-servers +ours)\n%s\n%s", seed, diff, d.Text)
			}
			for k := range on {
				switch {
				case on[k] == 0:
					dropped++
				case on[k] == len(shards):
					everywhere++
				default:
					kept++
				}
			}
			if len(got.Unknown) > 0 {
				t.Errorf("seed %d: %d targets were not evaluated", seed, len(got.Unknown))
			}
		}
	}
	if min(kept, everywhere, dropped) < 100 {
		t.Errorf("%d targets on one shard, %d on all, %d dropped: too few to show anything", kept, everywhere, dropped)
	}
	for mark, n := range modes {
		if n < 10 {
			t.Errorf("%s only in %d jobs", mark, n)
		}
	}
	if len(modes) != 4 {
		t.Errorf("not all modes were generated: %v", modes)
	}
}

// Labels that no step reads are removed, others stay.
func TestSight(t *testing.T) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "k8s"}}
	read(t, "{shards: 2, serviceDiscoveryRole: EndpointSlice}", &p.Spec)
	s, err := promconfig.ServerSettings(p, promconfig.Capabilities{EndpointSlice: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	read(t, `{selector: {matchLabels: {app: web}}, endpoints: [{port: http, relabelings: [{action: labelmap, regex: '__meta_kubernetes_pod_label_(.+)'}]}]}`, &m.Spec)
	f := promconfig.CompileServiceMonitor(m, s.WithOrigins(), &assets.Static{})
	jobs, err := targets.ReadJobs(promconfig.JobText{Text: f.YAML, Origins: f.Origins, Shards: s.ShardVariables()})
	if err != nil {
		t.Fatal(err)
	}
	reads := jobs[0].ReadLabels()
	got := reads.Target(model.LabelSet{
		"__address__": "a:1", "__meta_kubernetes_pod_label_any": "mapped", "__meta_kubernetes_pod_annotation_any": "not", "__meta_kubernetes_pod_uid": "not",
		"__meta_kubernetes_endpointslice_port_name": "http", "team": "", "__scheme__": "https",
	}, model.LabelSet{"__meta_kubernetes_service_label_app": "web", "__meta_kubernetes_service_label_other": "not", "team": "hidden by the empty one", "zone": "z"})
	want := model.LabelSet{
		"__address__": "a:1", "__meta_kubernetes_pod_label_any": "mapped", "__meta_kubernetes_endpointslice_port_name": "http",
		"__scheme__": "https", "__meta_kubernetes_service_label_app": "web", "zone": "z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Targets that cannot be evaluated are reported instead of lost.
func TestUnknownIsReported(t *testing.T) {
	got := allocation.ByHash(2, []targets.Outcome{
		{State: targets.Kept, Shards: []int{1}}, {State: targets.Unknown}, {State: targets.Dropped}, {State: targets.Invalid, Shards: []int{0}}, {State: targets.Kept, Shards: []int{0, 1}},
	})
	if diff := cmp.Diff(allocation.Placement{Shards: [][]int{{4}, {0, 4}}, Unknown: []int{1}}, got); diff != "" {
		t.Error(diff)
	}
}
