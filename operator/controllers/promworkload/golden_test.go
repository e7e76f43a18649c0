package promworkload

import (
	"bytes"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// TestGolden runs each testdata/*.txtar. in.yaml is the workload, config.yaml and
// inputs.yaml override testConfig and testInputs, and each file under want/ is one view
// of the result.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		return newStory(t, c).view(name)
	})
}

func testConfig() workload.Config {
	return workload.Config{
		OperatorVersion:     "1.2.3",
		PrometheusBaseImage: "quay.io/prometheus/prometheus",
		ThanosBaseImage:     "quay.io/thanos/thanos",
		ConfigReloaderImage: "example.org/config-reloader:1.2.3",
		PartsReaders:        []string{"example.org/config-reloader"},
		RulesReloaderImage:  "example.org/rules-reloader:1.2.3",
		ReloaderResources: workload.ReloaderResources{
			CPURequest: resource.MustParse("10m"), CPULimit: resource.MustParse("10m"),
			MemoryRequest: resource.MustParse("50Mi"), MemoryLimit: resource.MustParse("50Mi"),
		},
		TopologySharding: true,
		ShardRetention:   true,
	}
}

func testInputs() workload.PodInputs {
	return workload.PodInputs{RuleConfigMaps: []string{"prometheus-main-rulefiles-0"}, TLSSecrets: 1, Hash: "42"}
}

// story is the content of one golden file.
type story struct {
	server *v1.Prometheus
	agent  *v1alpha1.PrometheusAgent
	cfg    workload.Config
	in     workload.PodInputs
}

func newStory(t *testing.T, c golden.Case) *story {
	t.Helper()
	s := &story{cfg: testConfig(), in: testInputs()}
	inputs := map[string]any{"config.yaml": &s.cfg, "inputs.yaml": &s.in}
	if text, _ := c.Input("in.yaml"); bytes.Contains(text, []byte("kind: PrometheusAgent")) {
		s.agent = &v1alpha1.PrometheusAgent{}
		inputs["in.yaml"] = s.agent
	} else {
		s.server = &v1.Prometheus{}
		inputs["in.yaml"] = s.server
	}
	if err := workloadtest.ReadInputs(c, inputs); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *story) owner() *Builder {
	if s.server != nil {
		return ForServer(s.server, s.cfg)
	}
	return ForAgent(s.agent, s.cfg)
}

// view renders one part of the result.
func (s *story) view(name string) ([]byte, error) {
	o := s.owner()
	switch name {
	case "dropped":
		return golden.Lines(o.Dropped()), nil
	case "service.yaml":
		svc, _ := o.SharedService(o.ServicePorts(), nil)
		return yaml.Marshal(svc)
	case "web-config.yaml":
		secret, err := o.WebConfigSecret()
		if err != nil {
			return nil, err
		}
		return secret.Data["web-config.yaml"], nil
	case "web-config.error":
		if _, err := o.WebConfigSecret(); err != nil {
			return []byte(err.Error() + "\n"), nil
		}
		return nil, nil
	case "daemonset.yaml", "daemonset-volumes", "daemonset-mounts":
		return s.daemonSetView(o, name)
	}
	sts, err := o.StatefulSet(s.in)
	if name == "error" {
		if err == nil {
			return nil, errors.New("no error")
		}
		return []byte(err.Error() + "\n"), nil
	}
	if err != nil {
		return nil, err
	}
	return workloadtest.View(sts, name)
}

func (s *story) daemonSetView(o *Builder, name string) ([]byte, error) {
	ds, err := o.DaemonSet(s.in)
	if err != nil {
		return nil, err
	}
	var lines []string
	switch pod := ds.Spec.Template.Spec; name {
	case "daemonset-volumes":
		for _, v := range pod.Volumes {
			lines = append(lines, v.Name)
		}
	case "daemonset-mounts":
		for _, c := range pod.Containers {
			for _, m := range c.VolumeMounts {
				if c.Name == workload.ContainerPrometheus {
					lines = append(lines, m.MountPath+" "+m.Name)
				}
			}
		}
	default:
		return yaml.Marshal(ds)
	}
	return golden.Lines(lines), nil
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
