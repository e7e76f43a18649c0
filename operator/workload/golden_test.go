package workload

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of testdata")

// TestGolden runs each testdata/*.txtar: in.yaml is the owner, config.yaml and
// inputs.yaml change what testConfig and testInputs say, and each file under
// want/ is one view of the result.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := story{cfg: testConfig(), in: testInputs()}
	checked := 0
	for i, f := range ar.Files {
		view, want := strings.CutPrefix(f.Name, "want/")
		if !want {
			s.read(t, f)
			continue
		}
		checked++
		got := s.view(t, view)
		if *update {
			ar.Files[i].Data = got
		} else if d := cmp.Diff(string(f.Data), string(got)); d != "" {
			t.Errorf("%s (-want +got)\n%s", f.Name, d)
		}
	}
	if checked == 0 {
		t.Error("nothing is wanted")
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func testConfig() Config {
	return Config{
		OperatorVersion:     "1.2.3",
		PrometheusBaseImage: "quay.io/prometheus/prometheus",
		ThanosBaseImage:     "quay.io/thanos/thanos",
		ConfigReloaderImage: "example.org/config-reloader:1.2.3",
		PartsReaders:        []string{"example.org/config-reloader"},
		RulesReloaderImage:  "example.org/rules-reloader:1.2.3",
		ReloaderResources: ReloaderResources{
			CPURequest: resource.MustParse("10m"), CPULimit: resource.MustParse("10m"),
			MemoryRequest: resource.MustParse("50Mi"), MemoryLimit: resource.MustParse("50Mi"),
		},
		TopologySharding: true,
		ShardRetention:   true,
	}
}

func testInputs() Inputs {
	return Inputs{RuleConfigMaps: []string{"prometheus-main-rulefiles-0"}, TLSSecrets: 1, Hash: "42"}
}

// story is what one file says.
type story struct {
	server *v1.Prometheus
	agent  *v1alpha1.PrometheusAgent
	cfg    Config
	in     Inputs
}

func (s *story) read(t *testing.T, f txtar.File) {
	t.Helper()
	var into any
	switch f.Name {
	case "in.yaml":
		s.server, s.agent = &v1.Prometheus{}, &v1alpha1.PrometheusAgent{}
		into = s.server
		if bytes.Contains(f.Data, []byte("kind: PrometheusAgent")) {
			s.server, into = nil, s.agent
		}
	case "config.yaml":
		into = &s.cfg
	case "inputs.yaml":
		into = &s.in
	default:
		t.Fatalf("unknown file %q", f.Name)
	}
	if err := yaml.UnmarshalStrict(f.Data, into); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
}

func (s *story) owner() *Owner {
	if s.server != nil {
		return ForServer(s.server, s.cfg)
	}
	return ForAgent(s.agent, s.cfg)
}

// view renders one part of the result.
func (s *story) view(t *testing.T, name string) []byte {
	t.Helper()
	o := s.owner()
	switch name {
	case "dropped":
		var out strings.Builder
		for _, d := range o.Dropped() {
			out.WriteString(d.String() + "\n")
		}
		return []byte(out.String())
	case "service.yaml":
		svc, _ := o.GoverningService()
		return toYAML(t, svc)
	case "web-config.yaml":
		secret, err := o.WebConfigSecret()
		if err != nil {
			t.Fatal(err)
		}
		return secret.Data["web-config.yaml"]
	case "web-config.error":
		if _, err := o.WebConfigSecret(); err != nil {
			return []byte(err.Error() + "\n")
		}
		return nil
	case "daemonset.yaml", "daemonset-volumes", "daemonset-mounts":
		return s.daemonSetView(t, o, name)
	}
	return s.statefulSetView(t, o, name)
}

func (s *story) daemonSetView(t *testing.T, o *Owner, name string) []byte {
	t.Helper()
	ds, err := o.DaemonSet(s.in)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	switch pod := ds.Spec.Template.Spec; name {
	case "daemonset-volumes":
		for _, v := range pod.Volumes {
			lines.WriteString(v.Name + "\n")
		}
	case "daemonset-mounts":
		for _, m := range find(t, pod, containerPrometheus).VolumeMounts {
			lines.WriteString(m.MountPath + " " + m.Name + "\n")
		}
	default:
		return toYAML(t, ds)
	}
	return []byte(lines.String())
}

func (s *story) statefulSetView(t *testing.T, o *Owner, name string) []byte {
	t.Helper()
	sts, err := o.StatefulSet(s.in)
	if name == "error" {
		if err == nil {
			t.Fatal("no error")
		}
		return []byte(err.Error() + "\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	pod := sts.Spec.Template.Spec
	switch part, container, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "/"); part {
	case "statefulset":
		return toYAML(t, sts)
	case "metadata":
		return toYAML(t, sts.ObjectMeta)
	case "set": // the StatefulSet without its pods
		sts.Spec.Template.Spec = corev1.PodSpec{}
		return toYAML(t, sts.Spec)
	case "pod": // the pod without containers and volumes
		pod.Containers, pod.InitContainers, pod.Volumes = nil, nil, nil
		return toYAML(t, pod)
	case "volumes":
		return toYAML(t, pod.Volumes)
	case "containers":
		var names []string
		for _, c := range append(pod.InitContainers, pod.Containers...) {
			names = append(names, c.Name)
		}
		return []byte(strings.Join(names, "\n") + "\n")
	case "container", "args", "mounts", "env", "probes", "image":
		return containerView(t, find(t, pod, container), part)
	}
	t.Fatalf("unknown view %q", name)
	return nil
}

func containerView(t *testing.T, c corev1.Container, part string) []byte {
	t.Helper()
	switch part {
	case "image":
		return []byte(c.Image + "\n")
	case "args":
		return []byte(strings.Join(c.Args, "\n") + "\n")
	case "mounts":
		return toYAML(t, c.VolumeMounts)
	case "env":
		return toYAML(t, c.Env)
	case "probes":
		return toYAML(t, map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe})
	}
	return toYAML(t, c)
}

func find(t *testing.T, pod corev1.PodSpec, name string) corev1.Container {
	t.Helper()
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no container %q", name)
	return corev1.Container{}
}

func toYAML(t *testing.T, v any) []byte {
	t.Helper()
	out, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
