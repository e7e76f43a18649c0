package promconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/prometheus/config"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// randomOwners are settings that affect every job.
var randomOwners = []string{
	`{}`,
	`{shards: 2, enforcedNamespaceLabel: ns, enforcedSampleLimit: 5, enforcedBodySizeLimit: 1MB, overrideHonorTimestamps: true, overrideHonorLabels: true}`,
	`{scrapeClasses: [{name: a, default: true, authorization: {credentialsFile: /x}, tlsConfig: {caFile: /y}, relabelings: [{action: labeldrop, regex: x}], attachMetadata: {node: true}}]}`,
	`{apiserverConfig: {host: "https://k", basicAuth: {username: {name: s, key: text}, password: {name: s, key: text}}}, serviceDiscoveryRole: EndpointSlice, ignoreNamespaceSelectors: true}`,
	`{shards: 4, shardingStrategy: {mode: Topology, topology: {values: [a, b]}}, podTargetLabels: [x/y], arbitraryFSAccessThroughSMs: {deny: true}}`,
	`{scrapeClasses: [{name: a, default: true, authorization: {credentials: {name: s, key: text}}, tlsConfig: {cert: {secret: {name: s, key: cert}}, keySecret: {name: s, key: key}}}]}`,
}

// randomVersions are versions around the most important gates, newest first.
var randomVersions = []string{"3.13.2", "3.8.0", "3.5.0", "3.0.0", "2.55.1", "2.45.0", "2.40.0", "2.26.0", "2.10.0"}

// FuzzMonitors generates monitors in two namespaces that the CRDs allow, and compiles
// them for a workload in a third. The accepted ones result in a document that does not
// depend on their order, has no duplicate key, and is accepted by Prometheus. It contains
// no Secret of a namespace other than those of the monitor and the workload. Keys that
// are dropped for a version are dropped for older versions, too.
func FuzzMonitors(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint8(seed*17), uint8(seed), uint8(seed/3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, percent, owner, version uint8) {
		spec := randomOwners[int(owner)%len(randomOwners)]
		at := int(version) % len(randomVersions)
		w := randomInput(t, seed, float64(percent%101)/100, spec)
		out := renderMarked(t, w, randomVersions[at])
		if at+1 < len(randomVersions) {
			older := randomVersions[at+1+int(seed%uint64(len(randomVersions)-at-1))]
			droppedBelow(t, w, randomVersions[at], older)
		}
		w = randomInput(t, seed, float64(percent%101)/100, spec)
		rng := rand.New(rand.NewPCG(seed, 2))
		rng.Shuffle(len(w.services), func(i, j int) { w.services[i], w.services[j] = w.services[j], w.services[i] })
		rng.Shuffle(len(w.pods), func(i, j int) { w.pods[i], w.pods[j] = w.pods[j], w.pods[i] })
		rng.Shuffle(len(w.probes), func(i, j int) { w.probes[i], w.probes[j] = w.probes[j], w.probes[i] })
		if again := renderMarked(t, w, randomVersions[at]); !bytes.Equal(out, again) {
			t.Errorf("another order gives another document:\n%s\n%s", out, again)
		}
	})
}

// TestRandomMonitorsAreAccepted makes sure that the fuzz test does not only generate rejected monitors.
func TestRandomMonitorsAreAccepted(t *testing.T) {
	accepted, all := map[string]int{}, 0
	for seed := range uint64(10) {
		w := randomInput(t, seed, 0.3, `{}`)
		out := string(renderMarked(t, w, "3.13.2"))
		all += len(w.services) + len(w.pods) + len(w.probes)
		for _, kind := range []string{"serviceMonitor/", "podMonitor/", "probe/", marker("demo")} {
			accepted[kind] += strings.Count(out, kind)
		}
	}
	for _, kind := range []string{"serviceMonitor/", "podMonitor/", "probe/", marker("demo")} {
		if accepted[kind] < 5 {
			t.Errorf("of %d random monitors only %d with %s are accepted", all, accepted[kind], kind)
		}
	}
}

func marker(namespace string) string { return "secret-of-" + namespace + "." }

// marked is a cluster with Secrets and ConfigMaps of every name in every namespace. Their
// values contain the namespace.
type marked struct{}

func (marked) Object(ref assets.Ref) (assets.Object, error) {
	return assets.Object{Version: "1", Values: map[string][]byte{
		"text": []byte(marker(ref.Namespace)), "uuid": []byte("11111111-2222-3333-4444-555555555555"),
		"cert": golden.Certificates()["@CERT@"], "key": golden.Certificates()["@KEY@"],
		"jobs":     []byte("- job_name: own\n  static_configs: [{targets: [a]}]\n- job_name: own2\n  relabel_configs: [{action: labeldrop, regex: a}]\n"),
		"managers": []byte("- static_configs: [{targets: [a]}]\n"),
		"steps":    []byte("- {action: labeldrop, regex: a}\n"),
	}}, nil
}

// monitorSamples holds the generators by kind.
var monitorSamples = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{v1.ServiceMonitorKind: v1.Version, v1.PodMonitorKind: v1.Version, v1.ProbeKind: v1.Version})
})

// randomInput returns a workload and some monitors of each kind in two namespaces.
func randomInput(t *testing.T, seed uint64, density float64, owner string) *goldenInput {
	t.Helper()
	samples, err := monitorSamples()
	if err != nil {
		t.Fatal(err)
	}
	w := &goldenInput{cluster: everything}
	if err := w.add([]byte("kind: Prometheus\nmetadata: {namespace: owner, name: test}\nspec: " + owner)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, kind := range slices.Sorted(maps.Keys(samples)) {
		for i := range 4 {
			object, err := samples[kind].Object(rng, density)
			if err != nil {
				t.Fatal(err)
			}
			spec, _ := object["spec"].(map[string]any)
			plausible(kind, spec, i%2 == 0)
			object = map[string]any{
				"kind": kind, "spec": spec,
				"metadata": map[string]any{"namespace": []string{"demo", "other"}[i/2], "name": fmt.Sprint("m", i)},
			}
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.add(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

// plausible makes references valid and, if thorough, removes fields that random values
// rarely make acceptable.
func plausible(kind string, spec map[string]any, thorough bool) {
	refer(spec, "")
	delete(spec, "scrapeClass")
	if prober, ok := spec["prober"].(map[string]any); ok {
		prober["url"] = "prober:9115"
	}
	if !thorough {
		return
	}
	tidy(spec)
	if _, ok := spec["prober"]; !ok && kind == v1.ProbeKind {
		spec["prober"] = map[string]any{"url": "prober"}
	}
	if targets, ok := spec["targets"].(map[string]any); kind == v1.ProbeKind && (!ok || len(targets) == 0) {
		spec["targets"] = map[string]any{"staticConfig": map[string]any{"static": []any{"a"}}}
	}
	for _, field := range []string{"endpoints", "podMetricsEndpoints"} {
		entries, _ := spec[field].([]any)
		for _, entry := range entries {
			if endpoint, ok := entry.(map[string]any); ok {
				calm(endpoint)
			}
		}
	}
	calm(spec)
}

// refer points references to existing keys. Tolerations, selector expressions and volume
// items have a key, too, but no name.
func refer(v any, field string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			refer(item, field)
		}
	case map[string]any:
		_, key := v["key"].(string)
		other := slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(k string) bool { return k != "key" && k != "name" && k != "optional" })
		if key && !other && field != "tolerations" {
			v["name"], v["key"] = "s", keyFor(field)
			return
		}
		for name, value := range v {
			inner := name
			if name == "secret" || name == "configMap" {
				inner = field
			}
			if replacement, ok := formed[name]; ok && (name == "proxyUrl" || name == "url") {
				v[name] = replacement
			}
			refer(value, inner)
		}
	}
}

// calm removes fields from an endpoint that conflict with others or need a special format.
func calm(endpoint map[string]any) {
	keepOne(endpoint, "basicAuth", "oauth2", "bearerTokenSecret")
	for _, field := range []string{"bearerTokenFile", "authorization", "scrapeTimeout"} {
		delete(endpoint, field)
	}
	if prober, ok := endpoint["prober"].(map[string]any); ok {
		maps.DeleteFunc(prober, func(key string, _ any) bool { return key != "url" && key != "path" && key != "scheme" })
	}
	for _, field := range []string{"relabelings", "metricRelabelings"} {
		steps, _ := endpoint[field].([]any)
		for _, step := range steps {
			if s, ok := step.(map[string]any); ok {
				maps.DeleteFunc(s, func(key string, _ any) bool { return key == "action" })
				s["targetLabel"] = "x"
			}
		}
	}
}

// renderMarked compiles the input for a version and checks the properties of every document.
func renderMarked(t *testing.T, w *goldenInput, version string) []byte {
	t.Helper()
	w.setVersion(version)
	s, err := w.settings()
	if err != nil {
		t.Fatal(err)
	}
	frame, err := CompileServer(w.prometheus, s, nil, marked{})
	if err != nil {
		t.Fatal(err)
	}
	text := acceptedMonitors(t, w, s).document(&frame)
	var strict yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &strict); err != nil {
		t.Errorf("%s: %v\n%s", version, err, text)
	}
	if strings.HasPrefix(version, "3.") {
		if _, err := config.Load(string(text), nil); err != nil {
			t.Errorf("%s: Prometheus refuses the document: %v\n%s", version, err, text)
		}
	}
	return text
}

// droppedBelow checks that keys dropped for a version are also dropped for an older one.
func droppedBelow(t *testing.T, w *goldenInput, version, older string) {
	t.Helper()
	w.setVersion(version)
	newer := w.places(t)
	w.setVersion(older)
	below := w.places(t)
	for monitor, paths := range newer {
		now, compiled := below[monitor]
		if !compiled {
			continue // rejected for the older version
		}
		for path := range paths {
			if !now[path] && !coveredBy(path, now) {
				t.Errorf("%s: %s is left out for %s and written for %s", monitor, path, version, older)
			}
		}
	}
}

// places returns the dropped paths of each accepted monitor.
func (w *goldenInput) places(t *testing.T) map[string]map[string]bool {
	t.Helper()
	s, err := w.settings()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	add := func(name string, f Fragment) {
		if f.Err != nil {
			return
		}
		out[name] = map[string]bool{}
		for _, d := range f.Dropped {
			if d.Need[0] == '>' {
				out[name][d.Path] = true
			}
		}
	}
	for _, o := range w.services {
		add("ServiceMonitor "+o.Namespace+"/"+o.Name, CompileServiceMonitor(o, s, marked{}))
	}
	for _, o := range w.pods {
		add("PodMonitor "+o.Namespace+"/"+o.Name, CompilePodMonitor(o, s, marked{}))
	}
	for _, o := range w.probes {
		add("Probe "+o.Namespace+"/"+o.Name, CompileProbe(o, s, marked{}))
	}
	return out
}
