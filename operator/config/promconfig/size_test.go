package promconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// largeSecret returns a Secret with the same value for every name.
type largeSecret struct{ value []byte }

func (s largeSecret) Object(assets.Ref) (assets.Object, error) {
	return assets.Object{Version: "1", Values: map[string][]byte{"v": s.value}}, nil
}

// One object of at most 1.5 MB must not result in a configuration that does not fit into
// Secrets or that exhausts the operator's memory.
func TestWhatOneObjectMakesIsBounded(t *testing.T) {
	value := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "v"}
	withPassword := v1.Endpoint{Port: "http"}
	withPassword.BasicAuth = &v1.BasicAuth{Username: value, Password: value}
	withCA := v1.Endpoint{Port: "http"}
	withCA.TLSConfig = &v1.TLSConfig{SafeTLSConfig: v1.SafeTLSConfig{CA: v1.SecretOrConfigMap{Secret: &value}}}
	labels := make([]string, 20_000)
	for i := range labels {
		labels[i] = fmt.Sprint("label_", i)
	}
	ca := append(slices.Clone(golden.Certificates()["@CERT@"]), []byte(strings.Repeat("\n", 220_000))...)
	const mib = 1 << 20
	for name, tc := range map[string]struct {
		spec   v1.ServiceMonitorSpec
		secret []byte
		want   string
	}{
		"a bundle of CAs for a hundred endpoints": {v1.ServiceMonitorSpec{Endpoints: slices.Repeat([]v1.Endpoint{withCA}, 100)}, ca, ""},
		"a long list of labels":                   {v1.ServiceMonitorSpec{Endpoints: make([]v1.Endpoint, 2), PodTargetLabels: labels[:500]}, nil, ""},
		"a large password": {v1.ServiceMonitorSpec{Endpoints: slices.Repeat([]v1.Endpoint{withPassword}, 4)}, make([]byte, mib),
			"too many bytes of configuration, the limit is 4194304"},
		"a large password many times": {v1.ServiceMonitorSpec{Endpoints: slices.Repeat([]v1.Endpoint{withPassword}, 100)}, make([]byte, mib),
			"spec.endpoints[32].basicAuth.username: the values of all references have more than 64 MiB"},
		"labels of many endpoints": {v1.ServiceMonitorSpec{Endpoints: make([]v1.Endpoint, budget.Endpoints), PodTargetLabels: labels},
			nil, "too many bytes of configuration, the limit is 4194304"},
		"many endpoints": {v1.ServiceMonitorSpec{Endpoints: make([]v1.Endpoint, 2_000)}, nil, ""},
		"too many endpoints": {v1.ServiceMonitorSpec{Endpoints: make([]v1.Endpoint, budget.Endpoints+1)},
			nil, "ndpoints: has more than 2500 elements, the limit of one "},
	} {
		t.Run(name, func(t *testing.T) {
			m := &v1.ServiceMonitor{Spec: tc.spec}
			m.Namespace, m.Name = "demo", "m"
			f := CompileServiceMonitor(m, settingsOf(t, `{}`), largeSecret{tc.secret})
			if text := fmt.Sprint(f.Err); (f.Err == nil) != (tc.want == "") || !strings.Contains(text, tc.want) {
				t.Errorf("%d bytes, %.200s; want %q", len(f.YAML), text, tc.want)
			}
			if f.Err != nil && len(f.YAML) > 0 {
				t.Error("a rejected object has a configuration")
			}
			p := &v1.PodMonitor{}
			p.Namespace, p.Name = "demo", "m"
			p.Spec.PodMetricsEndpoints, p.Spec.PodTargetLabels = make([]v1.PodMetricsEndpoint, len(tc.spec.Endpoints)), tc.spec.PodTargetLabels
			if f := CompilePodMonitor(p, settingsOf(t, `{}`), largeSecret{}); strings.Contains(name, "labels of many endpoints") || strings.Contains(name, "too many endpoints") {
				if f.Err == nil || !strings.Contains(f.Err.Error(), tc.want) {
					t.Errorf("PodMonitor: %v, want %q", f.Err, tc.want)
				}
			} else if f.Err != nil {
				t.Errorf("PodMonitor: %v", f.Err)
			}
		})
	}
}
