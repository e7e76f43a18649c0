package alertmanager

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// TestGolden runs each testdata/*.txtar. in.yaml is the Alertmanager, config.yaml and
// inputs.yaml override testConfig and testInputs, and each file under want/ is one view
// of the result.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		return newStory(t, c).view(name)
	})
}

// testConfig uses the reloader of the reference, because with ours, pods always mount the
// parts of the configuration.
func testConfig() workload.Config {
	return workload.Config{
		OperatorVersion:       "1.2.3",
		AlertmanagerBaseImage: "quay.io/prometheus/alertmanager",
		ConfigReloaderImage:   "example.org/config-reloader:1.2.3",
		ReloaderResources: workload.ReloaderResources{
			CPURequest: resource.MustParse("10m"), CPULimit: resource.MustParse("10m"),
			MemoryRequest: resource.MustParse("50Mi"), MemoryLimit: resource.MustParse("50Mi"),
		},
	}
}

func testInputs() workload.PodInputs { return workload.PodInputs{TLSSecrets: 1, Hash: "42"} }

// story is the content of one golden file.
type story struct {
	am  v1.Alertmanager
	cfg workload.Config
	in  workload.PodInputs
}

func newStory(t *testing.T, c golden.Case) *story {
	t.Helper()
	s := &story{cfg: testConfig(), in: testInputs()}
	inputs := map[string]any{"in.yaml": &s.am, "config.yaml": &s.cfg, "inputs.yaml": &s.in}
	if err := workloadtest.ReadInputs(c, inputs); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *story) builder() *builder { return newBuilder(&s.am, s.cfg) }

// view renders one part of the result.
func (s *story) view(name string) ([]byte, error) {
	o := s.builder()
	switch name {
	case "dropped":
		return golden.Lines(o.Dropped()), nil
	case "asked":
		return fmt.Appendf(nil, "%+v\n", o.shape().Reloaders), nil
	case "service.yaml":
		svc, _ := o.SharedService(o.ServicePorts(), nil)
		return yaml.Marshal(svc)
	case "tls-secret.yaml":
		return yaml.Marshal(o.TLSAssetSecrets(map[string][]byte{"a": []byte("b")}, nil)[0])
	case "web-config.yaml":
		secret, err := o.WebConfigSecret()
		if err != nil {
			return nil, err
		}
		return secret.Data["web-config.yaml"], nil
	case "cluster-tls-config.yaml":
		secret, err := o.NewClusterTLSSecret(o.clusterTLS())
		if err != nil {
			return nil, err
		}
		return secret.Data["cluster-tls-config.yaml"], nil
	}
	sts, err := o.StatefulSet(s.in)
	if err != nil {
		return nil, err
	}
	return workloadtest.View(sts, name)
}
