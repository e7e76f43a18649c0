package promworkload

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

func agentOwner(t *testing.T, spec string) *Builder {
	t.Helper()
	a := &v1alpha1.PrometheusAgent{}
	a.Namespace, a.Name = "demo", "main"
	if err := yaml.UnmarshalStrict([]byte(spec), &a.Spec); err != nil {
		t.Fatal(err)
	}
	return ForAgent(a, testConfig())
}

// stories returns the inputs of all golden files.
func stories(t *testing.T) map[string]*story {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*story{}
	for _, file := range files {
		c, err := golden.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(file)] = newStory(t, c)
	}
	return out
}

// TestPure builds each story twice and modifies the first result deeply. The second
// result must be equal, and the inputs unchanged.
func TestPure(t *testing.T) {
	for name, s := range stories(t) {
		t.Run(name, func(t *testing.T) {
			server, agent := s.server.DeepCopy(), s.agent.DeepCopy()
			cfg, in := asJSON(t, s.cfg), asJSON(t, s.in)
			first, err := s.owner().StatefulSet(s.in)
			if err != nil {
				t.Skip("refused: " + err.Error())
			}
			bytesBefore := asJSON(t, first)
			workloadtest.Spoil(first)
			second, err := s.owner().StatefulSet(s.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := asJSON(t, second); !bytes.Equal(bytesBefore, got) {
				t.Errorf("second build differs:\n%s", cmp.Diff(string(bytesBefore), string(got)))
			}
			if d := cmp.Diff(server, s.server); d != "" {
				t.Errorf("the owner changed:\n%s", d)
			}
			if d := cmp.Diff(agent, s.agent); d != "" {
				t.Errorf("the owner changed:\n%s", d)
			}
			if !bytes.Equal(cfg, asJSON(t, s.cfg)) || !bytes.Equal(in, asJSON(t, s.in)) {
				t.Error("configuration or inputs changed")
			}
		})
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The selector matches the pods for every workload. The API server would reject it
// otherwise.
func TestPodsAreSelected(t *testing.T) {
	for name, s := range stories(t) {
		sts, err := s.owner().StatefulSet(s.in)
		if err != nil {
			continue
		}
		for key, value := range sts.Spec.Selector.MatchLabels {
			if got := sts.Spec.Template.Labels[key]; got != value {
				t.Errorf("%s: label %s of the pods is %q, selected %q", name, key, got, value)
			}
		}
		if sts.Labels[wellknown.LabelManagedBy] != wellknown.ManagedBy {
			t.Errorf("%s: the StatefulSet is not marked as ours", name)
		}
	}
}

// All mounts have volumes, except in workloads with mounts of the user.
func TestMountsHaveVolumes(t *testing.T) {
	for name, s := range stories(t) {
		sts, err := s.owner().StatefulSet(s.in)
		if err != nil {
			continue
		}
		have := volumeNames(sts)
		for _, c := range append(sts.Spec.Template.Spec.InitContainers, sts.Spec.Template.Spec.Containers...) {
			for _, m := range c.VolumeMounts {
				if !have[m.Name] && m.Name != "mine" {
					t.Errorf("%s: %s mounts %q, which is no volume", name, c.Name, m.Name)
				}
			}
		}
	}
}

func volumeNames(sts *appsv1.StatefulSet) map[string]bool {
	have := map[string]bool{}
	for _, v := range sts.Spec.Template.Spec.Volumes {
		have[v.Name] = true
	}
	for _, c := range sts.Spec.VolumeClaimTemplates {
		have[c.Name] = true
	}
	return have
}

// Port numbers and names are unique within a pod, including init containers. The API
// server would warn otherwise.
func TestPortsAreUnique(t *testing.T) {
	for _, layout := range []workload.Layout{workload.LayoutSplit, workload.LayoutSingle} {
		cfg := testConfig()
		cfg.Layout = layout
		sts, err := ForServer(server(t, `thanos: {}`), cfg).StatefulSet(testInputs())
		if err != nil {
			t.Fatal(err)
		}
		names, numbers := map[string]bool{}, map[int32]bool{}
		for _, c := range append(sts.Spec.Template.Spec.InitContainers, sts.Spec.Template.Spec.Containers...) {
			for _, p := range c.Ports {
				if names[p.Name] || numbers[p.ContainerPort] || len(p.Name) > 15 {
					t.Errorf("%s: port %s %d of %s is taken or too long", layout, p.Name, p.ContainerPort, c.Name)
				}
				names[p.Name], numbers[p.ContainerPort] = true, true
			}
		}
	}
}

// TestRealManifest builds a Prometheus from a real-world manifest.
func TestRealManifest(t *testing.T) {
	raw := shared(t, "real/kube-prometheus/prometheus-prometheus.yaml")
	p := &v1.Prometheus{}
	if err := yaml.UnmarshalStrict(raw, p); err != nil {
		t.Fatal(err)
	}
	o := ForServer(p, testConfig())
	sts, err := o.StatefulSet(workload.PodInputs{RuleConfigMaps: o.PadRuleConfigMaps(nil), TLSSecrets: 1})
	if err != nil {
		t.Fatal(err)
	}
	if sts.Name != "prometheus-k8s" || *sts.Spec.Replicas != 2 || len(sts.Spec.Template.Spec.Containers) != 3 {
		t.Errorf("got %s with %d replicas of %d containers", sts.Name, *sts.Spec.Replicas, len(sts.Spec.Template.Spec.Containers))
	}
	if d := o.Dropped(); len(d) != 0 {
		t.Errorf("dropped %v", d)
	}
	c := find(t, sts.Spec.Template.Spec, "prometheus")
	if c.Image != "quay.io/prometheus/prometheus:v3.13.2" || c.Resources.Requests.Memory().String() != "400Mi" {
		t.Errorf("image %s, requests %v", c.Image, c.Resources.Requests)
	}
}

// shared reads a file outside of the repository. The test is skipped if it does not
// exist.
func shared(t *testing.T, file string) []byte {
	t.Helper()
	dirs := []string{os.Getenv("FIREKEEPER_SHARED")}
	if dirs[0] == "" {
		dirs = nil
		for up := ".."; len(up) < 30; up += "/.." {
			dirs = append(dirs, filepath.Join(up, "shared"))
		}
	}
	for _, dir := range dirs {
		if raw, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
			return raw
		}
	}
	t.Skipf("%s is not here", file)
	return nil
}

func BenchmarkStatefulSet(b *testing.B) {
	p := &v1.Prometheus{}
	p.Namespace, p.Name = "demo", "main"
	p.Spec.Thanos = &v1.ThanosSpec{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ForServer(p, testConfig()).StatefulSet(testInputs()); err != nil {
			b.Fatal(err)
		}
	}
}
