package promconfig

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
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

func TestTargetDiscovery(t *testing.T) {
	annotations := map[string]string{wellknown.AnnotationTargetDiscovery: "central"}
	version, err := ParseVersion("3.13.2")
	if err != nil {
		t.Fatal(err)
	}
	for ignored, c := range map[string]struct {
		version string
		of      Discoverable
	}{
		"":                              {"2.28.0", Discoverable{Enabled: true}},
		"--central-discovery=opt-in":    {"2.28.0", Discoverable{Fault: "old"}},
		"in mode DaemonSet":             {"2.28.0", Discoverable{DaemonSet: true, Enabled: true, Fault: "old"}},
		"it needs Prometheus >= 2.28.0": {"2.27.1", Discoverable{Enabled: true}},
		"has no effect: old image":      {"2.28.0", Discoverable{Enabled: true, Fault: "old image"}},
	} {
		if c.of.Version, err = ParseVersion(c.version); err != nil {
			t.Fatal(err)
		}
		d, why, err := TargetDiscovery(annotations, c.of)
		if err != nil || d.Central() != (ignored == "") || !strings.Contains(why, ignored) || (why == "") != (ignored == "") {
			t.Errorf("%+v: %s, %q, %v", c, d, why, err)
		}
	}
	_, _, err = TargetDiscovery(map[string]string{wellknown.AnnotationTargetDiscovery: "x"}, Discoverable{Version: version})
	if at, is := errors.AsType[*AnnotationError](err); !is || at.ConditionReason() != "InvalidAnnotation" {
		t.Errorf("a wrong value: %v", err)
	}
}

// With a config-reloader that cannot receive targets, servers discover them.
func TestOldReloader(t *testing.T) {
	for image, central := range map[string]bool{
		"registry.example/firekeeper/config-reloader:v0.1.0": true, "firekeeper/config-reloader:v0.0.9": false,
		"quay.io/prometheus-operator/prometheus-config-reloader:v0.93.0": false, "mirror.example/reloader:v1.2.3": true, "mirror.example/other:v1.2.3": false,
	} {
		p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test", Annotations: map[string]string{wellknown.AnnotationTargetDiscovery: "central"}}}
		p.Spec.Containers = []corev1.Container{{Name: "config-reloader", Image: image}}
		c := everything
		c.CentralDiscovery, c.Reloaders = true, []string{"mirror.example/reloader"}
		s, err := ServerSettings(p, c)
		if err != nil || s.Central() != central {
			t.Errorf("%s: central: %v, %v", image, s.Central(), err)
		}
	}
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

// How targets are divided does not change a configuration, and wrong values are named.
func TestDivisionAnnotations(t *testing.T) {
	with := func(annotations map[string]string) (*Settings, error) {
		p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test", Annotations: annotations}}
		p.Spec.Shards = new(int32(3))
		c := everything
		c.CentralDiscovery = true
		return ServerSettings(p, c)
	}
	central := map[string]string{wellknown.AnnotationTargetDiscovery: "central"}
	plain, err := with(central)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []map[string]string{
		{wellknown.AnnotationSharding: "weighted"},
		{wellknown.AnnotationSharding: "hash"},
		{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationHandoff: "switch", wellknown.AnnotationReassignAfter: "never"},
		{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationHandoff: "overlap", wellknown.AnnotationReassignAfter: "1h30m"},
		{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationMaxShards: "1000", wellknown.AnnotationSeriesPerShard: "1000"},
	} {
		more[wellknown.AnnotationTargetDiscovery] = "central"
		s, err := with(more)
		if err != nil || s.Key() != plain.Key() {
			t.Errorf("%v: another configuration, %v", more, err)
			continue
		}
		if annotation, why := IgnoredAnnotation(more, wellknown.CentralDiscovery); annotation != "" {
			t.Errorf("%v: %s is ignored: %s", more, annotation, why)
		}
		want := listedTexts(t, plain)
		for kind, text := range listedTexts(t, s) {
			if text != want[kind] {
				t.Errorf("%v: %s is\n%s\nwant\n%s", more, kind, text, want[kind])
			}
		}
	}
	for annotation, values := range map[string][]string{
		wellknown.AnnotationSharding:       {"", "Weighted", "hashmod"},
		wellknown.AnnotationHandoff:        {"", "none"},
		wellknown.AnnotationReassignAfter:  {"", "0", "5", "30s", "25h", "-5m", "Never"},
		wellknown.AnnotationMaxShards:      {"", "0", "1001", "-1", "ten", "1.5", "1e2"},
		wellknown.AnnotationSeriesPerShard: {"", "0", "999", "1000000001", "2M"},
	} {
		for _, value := range values {
			_, err := with(map[string]string{wellknown.AnnotationTargetDiscovery: "central", annotation: value})
			at, is := errors.AsType[*AnnotationError](err)
			if !is || at.ConditionReason() != "InvalidAnnotation" {
				t.Errorf("%s: %q: %v", annotation, value, err)
				continue
			}
			if field, reason := at.Located(); field != `metadata.annotations["`+annotation+`"]` || !strings.Contains(reason, "is not allowed: use ") {
				t.Errorf("%s: %s", field, reason)
			}
		}
	}
}

// Annotations about shards are ignored without central discovery, and without placement by series.
func TestIgnoredAnnotation(t *testing.T) {
	for _, c := range []struct {
		annotations     map[string]string
		d               wellknown.TargetDiscovery
		annotation, why string
	}{
		{nil, wellknown.OwnDiscovery, "", ""},
		{map[string]string{wellknown.AnnotationSharding: "hash"}, wellknown.OwnDiscovery, "", ""},
		{map[string]string{wellknown.AnnotationSharding: "weighted"}, wellknown.BothDiscoveries, wellknown.AnnotationSharding, "has no effect: it needs firekeeper.dev/target-discovery: central"},
		{map[string]string{wellknown.AnnotationHandoff: "switch"}, wellknown.OwnDiscovery, wellknown.AnnotationHandoff, "has no effect: it needs firekeeper.dev/target-discovery: central"},
		{map[string]string{wellknown.AnnotationReassignAfter: "never"}, wellknown.CentralDiscovery, wellknown.AnnotationReassignAfter, "has no effect: it needs firekeeper.dev/sharding: weighted"},
		{map[string]string{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationHandoff: "switch"}, wellknown.CentralDiscovery, "", ""},
		{map[string]string{wellknown.AnnotationMaxShards: "4"}, wellknown.CentralDiscovery, wellknown.AnnotationMaxShards, "only keeps the number of shards from falling: to follow the series, it needs firekeeper.dev/target-discovery: central and firekeeper.dev/sharding: weighted"},
		{map[string]string{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationSeriesPerShard: "5000"}, wellknown.CentralDiscovery, wellknown.AnnotationSeriesPerShard, "has no effect: it needs firekeeper.dev/max-shards"},
	} {
		if annotation, why := IgnoredAnnotation(c.annotations, c.d); annotation != c.annotation || why != c.why {
			t.Errorf("%v with %s: %s %s", c.annotations, c.d, annotation, why)
		}
	}
}
