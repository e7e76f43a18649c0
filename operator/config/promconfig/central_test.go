package promconfig

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// inMode returns the settings of a Prometheus with this mode of discovery, empty for no annotation.
func inMode(t *testing.T, mode, spec string) *Settings {
	t.Helper()
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	if mode != "" {
		p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: mode}
	}
	if err := kyaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	c := everything
	c.CentralDiscovery = true
	s, err := ServerSettings(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listedTexts returns the jobs of one object of each kind whose targets can be in the list, by kind.
func listedTexts(t *testing.T, s *Settings) map[string]string {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: "demo", Name: "web"}
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	probe := &v1.Probe{ObjectMeta: meta}
	probe.Spec.ProberSpec.URL = "prober:9115"
	probe.Spec.Targets.Ingress = &v1.ProbeTargetIngress{Selector: selector}
	none := &assets.Static{}
	out := map[string]string{}
	for kind, f := range map[string]Fragment{
		"ServiceMonitor": CompileServiceMonitor(&v1.ServiceMonitor{ObjectMeta: meta, Spec: v1.ServiceMonitorSpec{
			Selector: selector, Endpoints: []v1.Endpoint{{Port: "a"}, {Port: "b"}}}}, s, none),
		"PodMonitor": CompilePodMonitor(&v1.PodMonitor{ObjectMeta: meta, Spec: v1.PodMonitorSpec{
			Selector: selector, PodMetricsEndpoints: []v1.PodMetricsEndpoint{{}}}}, s, none),
		"Probe": CompileProbe(probe, s, none),
		"ScrapeConfig": CompileScrapeConfig(&v1alpha1.ScrapeConfig{ObjectMeta: meta, Spec: v1alpha1.ScrapeConfigSpec{
			KubernetesSDConfigs: []v1alpha1.KubernetesSDConfig{{Role: "Node"}}, StaticConfigs: []v1alpha1.StaticConfig{{Targets: []string{"a:80"}}}}}, s, none),
	} {
		if f.Err != nil {
			t.Fatalf("%s: %v", kind, f.Err)
		}
		out[kind] = string(f.YAML)
	}
	return out
}

// The number of shards is not in the text of a job with central discovery, so that another number
// reloads no server.
func TestShardsDoNotChangeCentralJobs(t *testing.T) {
	for _, rest := range []string{"", ", shardingStrategy: {mode: Topology, topology: {values: [a, b]}}"} {
		first := listedTexts(t, inMode(t, "central", "{shards: 2"+rest+"}"))
		for _, shards := range []string{"1", "4", "50"} {
			for kind, text := range listedTexts(t, inMode(t, "central", "{shards: "+shards+rest+"}")) {
				if text != first[kind] {
					t.Errorf("%s with %s shards%s:\n%s\nwith 2:\n%s", kind, shards, rest, text, first[kind])
				}
			}
		}
		for kind, text := range listedTexts(t, inMode(t, "own", "{shards: 4"+rest+"}")) {
			if text == listedTexts(t, inMode(t, "own", "{shards: 2"+rest+"}"))[kind] {
				t.Errorf("%s: the own text does not depend on the number either", kind)
			}
		}
	}
}

// The discovery and the sharding that commands and the discovery service evaluate equal those of the servers, in every
// mode.
func TestEvaluationHasOwnDiscovery(t *testing.T) {
	want := listedTexts(t, inMode(t, "", "{shards: 3}").WithOrigins())
	for _, mode := range []string{"own", "both", "central"} {
		s := inMode(t, mode, "{shards: 3}")
		for kind, text := range listedTexts(t, s.WithOrigins()) {
			if text != want[kind] {
				t.Errorf("%s in mode %s is evaluated as\n%s\nwant\n%s", kind, mode, text, want[kind])
			}
		}
		for kind, text := range listedTexts(t, s) {
			own, listed := strings.Contains(text, "kubernetes_sd_configs"), strings.Contains(text, "http_sd_configs")
			if own != (mode != "central") || listed != (mode != "own") {
				t.Errorf("%s in mode %s: own discovery %v, list %v", kind, mode, own, listed)
			}
		}
	}
}

// Each mode has separate fragments. Without an annotation, the mode is own.
func TestKeyOfModes(t *testing.T) {
	seen := map[string]string{}
	for _, mode := range []string{"own", "both", "central"} {
		key := inMode(t, mode, "{}").Key()
		if other, taken := seen[key]; taken {
			t.Errorf("mode %s has the key of %s", mode, other)
		}
		seen[key] = mode
	}
	if seen[inMode(t, "", "{}").Key()] != "own" {
		t.Error("without the annotation, the key is not that of mode own")
	}
}

// A target that a shard keeps has the same labels in every mode. Servers identify it by all labels but
// __meta_*, so its scrape loop survives a change of the mode.
func TestModesDoNotChangeTargets(t *testing.T) {
	target := labels.FromMap(map[string]string{
		"__address__": "10.0.0.7:80", "__meta_kubernetes_service_label_app": "web", "__meta_kubernetes_service_labelpresent_app": "true",
		"__meta_kubernetes_pod_label_app": "web", "__meta_kubernetes_pod_labelpresent_app": "true", "__meta_kubernetes_endpoint_port_name": "a",
		"__meta_kubernetes_ingress_label_app": "web", "__meta_kubernetes_ingress_labelpresent_app": "true", "__meta_kubernetes_ingress_scheme": "http",
		"__meta_kubernetes_ingress_path": "/", "__meta_kubernetes_endpointslice_endpoint_zone": "b", "__meta_kubernetes_namespace": "demo",
	})
	for _, spec := range []string{"{shards: 3}", "{shards: 4, shardingStrategy: {mode: Topology, topology: {values: [a, b]}}}"} {
		texts := map[string]map[string]string{}
		for _, mode := range []string{"own", "both", "central"} {
			texts[mode] = listedTexts(t, inMode(t, mode, spec))
		}
		for kind := range texts["own"] {
			kept := 0
			for _, variables := range inMode(t, "own", spec).ShardVariables() {
				own := identity(t, texts["own"][kind], variables, target)
				if own == "" {
					continue
				}
				kept++
				for _, mode := range []string{"both", "central"} {
					if got := identity(t, texts[mode][kind], variables, target); got != own {
						t.Errorf("%s %s on shard %s in mode %s: %s, want %s", kind, spec, variables["SHARD"], mode, got, own)
					}
				}
			}
			if kept != 1 {
				t.Errorf("%s %s: kept on %d shards", kind, spec, kept)
			}
		}
	}
}

// The documented exceptions: targets that are scraped by all shards, on all of them except the one of their hash, and
// targets of ScrapeConfigs with one shard.
func TestTargetsThatModesChange(t *testing.T) {
	target := map[string]string{
		"__address__": "10.0.0.7:80", "__meta_kubernetes_service_label_app": "web", "__meta_kubernetes_service_labelpresent_app": "true",
		"__meta_kubernetes_pod_label_app": "web", "__meta_kubernetes_pod_labelpresent_app": "true", "__meta_kubernetes_endpoint_port_name": "a",
		"__meta_kubernetes_ingress_label_app": "web", "__meta_kubernetes_ingress_labelpresent_app": "true", "__meta_kubernetes_ingress_scheme": "http",
		"__meta_kubernetes_ingress_path": "/", "__meta_kubernetes_namespace": "demo",
	}
	for spec, changed := range map[string]map[string]int{
		"{shards: 3}": {"on all shards": 2},
		"{}":          {"ScrapeConfig": 1},
	} {
		for _, everywhere := range []bool{false, true} {
			delete(target, "__tmp_disable_sharding")
			if everywhere {
				target["__tmp_disable_sharding"] = "true"
			}
			own, both, central := listedTexts(t, inMode(t, "own", spec)), listedTexts(t, inMode(t, "both", spec)), listedTexts(t, inMode(t, "central", spec))
			for kind := range own {
				n := 0
				for _, variables := range inMode(t, "own", spec).ShardVariables() {
					is := identity(t, own[kind], variables, labels.FromMap(target))
					if is == "" {
						continue
					}
					if got := identity(t, both[kind], variables, labels.FromMap(target)); got != is {
						t.Errorf("%s %s: with both %s, want %s", kind, spec, got, is)
					}
					if identity(t, central[kind], variables, labels.FromMap(target)) != is {
						n++
					}
				}
				want := changed[kind]
				if everywhere {
					want += changed["on all shards"]
				}
				if n != want {
					t.Errorf("%s %s, on all shards %v: changed on %d shards, want %d", kind, spec, everywhere, n, want)
				}
			}
		}
	}
}

// identity returns the labels that identify a target to the server after the steps of the first job, or
// "" if it is dropped.
func identity(t *testing.T, text string, variables map[string]string, target labels.Labels) string {
	t.Helper()
	for name, value := range variables {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	var jobs []struct {
		Steps []*relabel.Config `yaml:"relabel_configs"`
	}
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		t.Fatal(err)
	}
	for _, s := range jobs[0].Steps {
		s.NameValidationScheme = model.UTF8Validation
	}
	lb := labels.NewBuilder(target)
	if !relabel.ProcessBuilder(lb, jobs[0].Steps...) {
		return ""
	}
	lb.Range(func(l labels.Label) {
		if strings.HasPrefix(l.Name, "__meta_") {
			lb.Del(l.Name)
		}
	})
	return lb.Labels().String()
}

// Every version with http_sd_configs accepts the jobs of central discovery.
func TestCentralJobsInAllVersions(t *testing.T) {
	var first []byte
	for _, version := range []string{"2.28.0", "2.45.0", "3.0.0", "3.13.2"} {
		s := inMode(t, "central", "{shards: 3, version: "+version+"}")
		text := []byte(listedTexts(t, s)["ServiceMonitor"])
		if first == nil {
			first = text
		}
		if !bytes.Equal(text, first) {
			t.Errorf("%s:\n%s\n2.28.0:\n%s", version, text, first)
		}
	}
}

// The label that servers add to targets of a list is removed first from jobs with a step that can read it,
// and from no others.
func TestListURL(t *testing.T) {
	for step, want := range map[string]bool{
		"{action: labelmap, regex: __meta_(.+)}": true, "{action: LabelMap}": true, "{action: labelmap, regex: __meta_u.l}": true, "{action: labelmap, regex: (.+)_url}": true,
		"{sourceLabels: [__address__, __meta_url], targetLabel: a}": true, "{action: keepequal, sourceLabels: [a], targetLabel: __meta_url}": true,
		"{action: labelmap, regex: __meta_kubernetes_(.+)}": false, "{action: labelmap, regex: __meta_ur}": false, "{action: labeldrop, regex: __meta_.+}": false,
		"{action: labelkeep, regex: .+}": false, "{sourceLabels: [__meta_kubernetes_namespace], targetLabel: a}": false, "{targetLabel: __meta_url, replacement: a}": false,
	} {
		var relabel v1.RelabelConfig
		if err := kyaml.UnmarshalStrict([]byte(step), &relabel); err != nil {
			t.Fatal(err)
		}
		meta := metav1.ObjectMeta{Namespace: "demo", Name: "web"}
		ingress := &v1.ProbeTargetIngress{RelabelConfigs: []v1.RelabelConfig{relabel}}
		for _, mode := range []string{"own", "both", "central"} {
			s := inMode(t, mode, "{shards: 2}")
			none := &assets.Static{}
			for kind, f := range map[string]Fragment{
				"ServiceMonitor": CompileServiceMonitor(&v1.ServiceMonitor{ObjectMeta: meta, Spec: v1.ServiceMonitorSpec{
					Endpoints: []v1.Endpoint{{RelabelConfigs: []v1.RelabelConfig{relabel}}}}}, s, none),
				"PodMonitor": CompilePodMonitor(&v1.PodMonitor{ObjectMeta: meta, Spec: v1.PodMonitorSpec{
					PodMetricsEndpoints: []v1.PodMetricsEndpoint{{RelabelConfigs: []v1.RelabelConfig{relabel}}}}}, s, none),
				"Probe": CompileProbe(&v1.Probe{ObjectMeta: meta, Spec: v1.ProbeSpec{ProberSpec: v1.ProberSpec{URL: "p"}, Targets: v1.ProbeTargets{Ingress: ingress}}}, s, none),
				"ScrapeConfig": CompileScrapeConfig(&v1alpha1.ScrapeConfig{ObjectMeta: meta, Spec: v1alpha1.ScrapeConfigSpec{
					KubernetesSDConfigs: []v1alpha1.KubernetesSDConfig{{Role: "Pod"}}, RelabelConfigs: []v1.RelabelConfig{relabel}}}, s, none),
				"ScrapeConfig of static targets": CompileScrapeConfig(&v1alpha1.ScrapeConfig{ObjectMeta: meta, Spec: v1alpha1.ScrapeConfigSpec{
					StaticConfigs: []v1alpha1.StaticConfig{{Targets: []string{"a:80"}}}, RelabelConfigs: []v1.RelabelConfig{relabel}}}, s, none),
			} {
				if f.Err != nil {
					t.Fatalf("%s: %v", kind, f.Err)
				}
				first := strings.Contains(string(f.YAML), "relabel_configs:\n  - action: labeldrop\n    regex: __meta_url\n")
				if want := want && mode != "own" && kind != "ScrapeConfig of static targets"; first != want {
					t.Errorf("%s with %s, mode %s: removed first: %v\n%s", kind, step, mode, first, f.YAML)
				}
			}
		}
	}
}

// Beside discovery in the cluster, only static targets let a ScrapeConfig be central. A new mechanism
// is not central by itself.
func TestMechanismsOfCentralJobs(t *testing.T) {
	if (&Discoveries{Static: []*StaticSD{{}}}).inCluster() || (&Discoveries{}).inCluster() {
		t.Error("a job without discovery in the cluster is central")
	}
	all := reflect.TypeFor[Discoveries]()
	for i := range all.NumField() {
		d := &Discoveries{Kubernetes: []*KubernetesAnySD{{Role: roleNode}}}
		name, list := all.Field(i).Name, reflect.ValueOf(d).Elem().Field(i)
		list.Set(reflect.Append(list, reflect.New(list.Type().Elem().Elem())))
		if got, want := d.inCluster(), name == "Kubernetes" || name == "Static"; got != want {
			t.Errorf("with %s: central is %v", name, got)
		}
	}
}
