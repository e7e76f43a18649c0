package promconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/config"
	_ "github.com/prometheus/prometheus/discovery/kubernetes" // registers its discovery, so that its blocks are checked
	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// everything is a cluster and an operator with all features.
var everything = Capabilities{EndpointSlice: true, PodTopologyLabels: true, ShardRetention: true, TopologySharding: true}

// goldenInput is the input of a golden file.
type goldenInput struct {
	prometheus *v1.Prometheus
	agent      *v1alpha1.PrometheusAgent // takes precedence over prometheus
	services   []*v1.ServiceMonitor
	pods       []*v1.PodMonitor
	probes     []*v1.Probe
	scrapes    []*v1alpha1.ScrapeConfig
	objects    assets.Static
	cluster    Capabilities
	origins    bool // also render the origins of relabel steps
}

// rendered is the output for one version.
type rendered struct {
	text     []byte
	frame    Frame
	rejected []string
	dropped  []string
	files    []string

	traced []traced // with goldenInput.origins
}

// TestGolden renders the inputs for the version in the name of each wanted file.
//
//	want/<version>.yaml      the complete document
//	want/<version>/<path>    a part of it: "global", "remote_write.0.queue_config";
//	                         "jobs" are the scrape_configs without discovery and relabeling
//	want/<version>.dropped   keys that the version does not support
//	want/<version>.rejected  rejected monitors, and why
//	want/<version>.error     why nothing is generated
//	want/<version>.origins   origin of each relabel step of each job
//	want/<version>.warnings, want/<version>.files
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		version, part := golden.CutVersion(name)
		w, err := readInput(c)
		if err != nil {
			return nil, err
		}
		w.setVersion(version)
		w.origins = part == "origins"
		out, err := w.render()
		if part == "error" {
			if err == nil {
				return nil, fmt.Errorf("no error")
			}
			return []byte(err.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		checkDocument(t, version, out.text)
		switch part {
		case "yaml":
			return out.text, nil
		case "dropped":
			return golden.Lines(out.dropped), nil
		case "rejected":
			return golden.Lines(out.rejected), nil
		case "warnings":
			return golden.Lines(out.frame.Warnings), nil
		case "files":
			return golden.Lines(out.files), nil
		case "origins":
			return out.origins()
		}
		return partOf(out.text, part)
	})
}

// readInput reads all *.yaml inputs; "cluster" holds Capabilities as JSON.
func readInput(c golden.Case) (*goldenInput, error) {
	w := &goldenInput{cluster: everything, prometheus: &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}}
	for _, name := range c.Inputs() {
		text, _ := c.Input(name)
		text = golden.WithCertificates(text)
		if name == "cluster" {
			if err := json.Unmarshal(text, &w.cluster); err != nil {
				return nil, err
			}
			continue
		}
		for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
			if err := w.add(doc); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return w, nil
}

func (w *goldenInput) add(doc []byte) error {
	var meta metav1.TypeMeta
	if err := kyaml.Unmarshal(doc, &meta); err != nil {
		return err
	}
	var (
		secret    corev1.Secret
		configMap corev1.ConfigMap
		service   v1.ServiceMonitor
		pod       v1.PodMonitor
		probe     v1.Probe
		scrape    v1alpha1.ScrapeConfig
		into      any
	)
	switch meta.Kind {
	case "Prometheus":
		w.prometheus = &v1.Prometheus{}
		into = w.prometheus
	case "ServiceMonitor":
		into = &service
		w.services = append(w.services, &service)
	case "PodMonitor":
		into = &pod
		w.pods = append(w.pods, &pod)
	case "PrometheusAgent":
		w.agent = &v1alpha1.PrometheusAgent{}
		into = w.agent
	case "Probe":
		into = &probe
		w.probes = append(w.probes, &probe)
	case "ScrapeConfig":
		into = &scrape
		w.scrapes = append(w.scrapes, &scrape)
	case "Secret":
		into = &secret
	case "ConfigMap":
		into = &configMap
	default:
		return fmt.Errorf("kind %q is not known here", meta.Kind)
	}
	if err := manifest.Decode(doc, into); err != nil {
		return err
	}
	switch meta.Kind {
	case "Secret":
		w.objects.AddSecret(&secret)
	case "ConfigMap":
		w.objects.AddConfigMap(&configMap)
	}
	return nil
}

func (w *goldenInput) render() (rendered, error) {
	var out rendered
	s, err := w.settings()
	if err != nil {
		return out, err
	}
	if w.origins {
		s = s.WithOrigins()
	}
	if out.frame, err = w.compileFrame(s); err != nil {
		return out, err
	}
	if w.origins {
		out.traced = append(out.traced, traced{out.frame.Additional, out.frame.Origins})
	}
	files := maps.Clone(out.frame.Files)
	if files == nil {
		files = map[string][]byte{}
	}
	m := fragments{}
	take := func(f Fragment, kind string, o metav1.Object) {
		maps.Copy(files, f.Files)
		if f.Err != nil {
			out.rejected = append(out.rejected, fmt.Sprintf("%s %s/%s: %v", kind, o.GetNamespace(), o.GetName(), f.Err))
			return
		}
		m.add(kind, f)
		if f.Origins != nil {
			out.traced = append(out.traced, traced{f.YAML, f.Origins})
		}
		for _, d := range f.Dropped {
			out.dropped = append(out.dropped, d.String())
		}
	}
	byKey := func(a, b metav1.Object) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	}
	slices.SortFunc(w.services, func(a, b *v1.ServiceMonitor) int { return byKey(a, b) })
	slices.SortFunc(w.pods, func(a, b *v1.PodMonitor) int { return byKey(a, b) })
	for _, o := range w.services {
		take(CompileServiceMonitor(o, s, &w.objects), "ServiceMonitor", o)
	}
	for _, o := range w.pods {
		take(CompilePodMonitor(o, s, &w.objects), "PodMonitor", o)
	}
	slices.SortFunc(w.probes, func(a, b *v1.Probe) int { return byKey(a, b) })
	for _, o := range w.probes {
		take(CompileProbe(o, s, &w.objects), "Probe", o)
	}
	slices.SortFunc(w.scrapes, func(a, b *v1alpha1.ScrapeConfig) int { return byKey(a, b) })
	for _, o := range w.scrapes {
		take(CompileScrapeConfig(o, s, &w.objects), "ScrapeConfig", o)
	}
	for _, d := range out.frame.Dropped {
		out.dropped = append(out.dropped, d.String())
	}
	out.files = slices.Sorted(maps.Keys(files))
	out.text = m.document(&out.frame)
	return out, nil
}

// fragments holds the texts of accepted monitors by kind.
type fragments map[string][][]byte

func (a fragments) add(kind string, f Fragment) {
	if len(f.YAML) > 0 {
		a[kind] = append(a[kind], f.YAML)
	}
}

// document concatenates the parts like the operator does.
func (a fragments) document(f *Frame) (text []byte) {
	for _, part := range Assemble(f, func(kind string) [][]byte { return a[kind] }) {
		text = append(text, part.Text...)
		text = append(text, bytes.Join(part.Monitors, nil)...)
	}
	return text
}

func (w *goldenInput) setVersion(version string) {
	w.prometheus.Spec.Version = version
	if w.agent != nil {
		w.agent.Spec.Version = version
	}
}

func (w *goldenInput) settings() (*Settings, error) {
	if w.agent != nil {
		return AgentSettings(w.agent, w.cluster)
	}
	return ServerSettings(w.prometheus, w.cluster)
}

// compiled returns the settings and the frame of a valid workload for a version.
func (w *goldenInput) compiled(t *testing.T, version string) (*Settings, Frame) {
	t.Helper()
	w.setVersion(version)
	s, err := w.settings()
	if err != nil {
		t.Fatal(err)
	}
	frame, err := w.compileFrame(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, frame
}

func (w *goldenInput) compileFrame(s *Settings) (Frame, error) {
	if w.agent != nil {
		return CompileAgent(w.agent, s, &w.objects)
	}
	rules := []string{}
	for i := range 3 {
		rules = append(rules, fmt.Sprintf("prometheus-%s-rulefiles-%d", w.prometheus.Name, i))
	}
	return CompileServer(w.prometheus, s, rules, &w.objects)
}

// partOf extends golden.PartOf with "jobs".
func partOf(text []byte, path string) ([]byte, error) {
	if path != "jobs" {
		return golden.PartOf(text, path)
	}
	var doc yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &doc); err != nil {
		return nil, err
	}
	return yaml.Marshal(jobsOf(doc))
}

func jobsOf(doc yaml.MapSlice) (out []yaml.MapSlice) {
	jobs, _ := golden.Child(doc, "scrape_configs").([]any)
	for _, job := range jobs {
		var kept yaml.MapSlice
		for _, item := range job.(yaml.MapSlice) {
			if item.Key != "relabel_configs" && item.Key != "kubernetes_sd_configs" {
				kept = append(kept, item)
			}
		}
		out = append(out, kept)
	}
	return out
}

// checkDocument checks that Prometheus accepts a document generated for the major version
// of the linked library. It does not support older formats.
func checkDocument(t *testing.T, version string, text []byte) {
	t.Helper()
	var strict yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &strict); err != nil {
		t.Errorf("%s: not strict YAML: %v\n%s", version, err, text)
	}
	if v, err := ParseVersion(version); err != nil || v.Major() < 3 {
		return
	}
	if needsPromtool(strict) {
		checkWithPromtool(t, version, text)
		return
	}
	if _, err := config.Load(string(text), nil); err != nil {
		t.Errorf("%s: Prometheus refuses the document: %v\n%s", version, err, text)
	}
}

// copies returns all objects as JSON.
func (w *goldenInput) copies() string {
	text, err := json.Marshal([]any{w.prometheus, w.agent, byName(w.services), byName(w.pods), byName(w.probes), byName(w.scrapes)})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func byName[T metav1.Object](in []T) []T {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b T) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return out
}

// dropped returns the dropped keys of all monitors, with unique paths.
func (w *goldenInput) dropped() (out []gate.Dropped) {
	s, err := w.settings()
	if err != nil {
		return nil
	}
	add := func(o metav1.Object, f Fragment) {
		for _, d := range f.Dropped {
			d.Path = o.GetNamespace() + "/" + o.GetName() + ": " + d.Path
			out = append(out, d)
		}
	}
	for _, m := range w.services {
		add(m, CompileServiceMonitor(m, s, &w.objects))
	}
	for _, m := range w.pods {
		add(m, CompilePodMonitor(m, s, &w.objects))
	}
	for _, m := range w.probes {
		add(m, CompileProbe(m, s, &w.objects))
	}
	for _, m := range w.scrapes {
		f := CompileScrapeConfig(m, s, &w.objects)
		if f.Err != nil { // nothing of it is written
			f.Dropped = []gate.Dropped{{Path: "scrape_configs", Need: "> this"}}
		}
		add(m, f)
	}
	return out
}
