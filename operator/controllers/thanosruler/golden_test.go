package thanosruler

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// TestGolden runs each testdata/*.txtar. in.yaml is the ThanosRuler, config.yaml and
// inputs.yaml override testConfig and testInputs, and each file under want/ is one view
// of the result.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		s := newStory(t, c)
		return s.view(name)
	})
}

func testConfig() workload.Config {
	return workload.Config{
		OperatorVersion:     "1.2.3",
		ThanosBaseImage:     "quay.io/thanos/thanos",
		ConfigReloaderImage: "example.org/config-reloader:1.2.3",
		RulesReloaderImage:  "example.org/rules-reloader:1.2.3",
		ReloaderResources: workload.ReloaderResources{
			CPURequest: resource.MustParse("10m"), CPULimit: resource.MustParse("10m"),
			MemoryRequest: resource.MustParse("50Mi"), MemoryLimit: resource.MustParse("50Mi"),
		},
	}
}

func testInputs() workload.PodInputs {
	return workload.PodInputs{RuleConfigMaps: []string{"thanos-ruler-main-rulefiles-0"}, TLSSecrets: 1, Hash: "42"}
}

// story is the content of one golden file.
type story struct {
	ruler v1.ThanosRuler
	cfg   workload.Config
	in    workload.PodInputs
}

func newStory(t *testing.T, c golden.Case) *story {
	t.Helper()
	s := &story{cfg: testConfig(), in: testInputs()}
	inputs := map[string]any{"in.yaml": &s.ruler, "config.yaml": &s.cfg, "inputs.yaml": &s.in}
	if err := workloadtest.ReadInputs(c, inputs); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *story) builder() *builder { return newBuilder(&s.ruler, s.cfg) }

// view renders one part of the result.
func (s *story) view(name string) ([]byte, error) {
	o := s.builder()
	switch name {
	case "dropped":
		return golden.Lines(o.Dropped()), nil
	case "asked":
		at := o.shape().Reloaders
		return fmt.Appendf(nil, "%s %v\n", at.Scheme, at.Ports), nil
	case "service.yaml":
		svc, _ := o.SharedService(o.ServicePorts(), nil)
		return yaml.Marshal(svc)
	case "config-secret.yaml":
		return yaml.Marshal(o.configSecret([]byte("remote_write: []\n")))
	case "rule-configmap.yaml":
		return yaml.Marshal(o.RuleConfigMapMeta(wellknown.RuleConfigMapName(o.RuleConfigMapBase(), 1)))
	case "tls-secret.yaml":
		return yaml.Marshal(o.TLSAssetSecrets(map[string][]byte{"a": []byte("b")}, nil)[0])
	case "web-config.yaml":
		secret, err := o.WebConfigSecret()
		if err != nil {
			return nil, err
		}
		return secret.Data["web-config.yaml"], nil
	}
	sts, err := o.StatefulSet(s.in)
	if name == "error" {
		if err == nil {
			return nil, fmt.Errorf("no error")
		}
		return []byte(err.Error() + "\n"), nil
	}
	if err != nil {
		return nil, err
	}
	return workloadtest.View(sts, name)
}
