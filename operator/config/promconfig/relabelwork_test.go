package promconfig

import (
	"errors"
	"strings"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// A tenant delays the targets and the configuration of all jobs of a Prometheus with a small monitor and a pod with a long
// annotation: Prometheus waits until the relabelings of each job are done.
func TestRelabelingsThatTakeLong(t *testing.T) {
	for name, tc := range map[string]struct {
		step  string
		times int // in each of two lists
		bad   bool
	}{
		"repetitions":               {`{action: keep, sourceLabels: [a], regex: "(.*,?){1000}x"}`, 2, true},
		"many source labels":        {`{action: drop, sourceLabels: [a, b, c, d, e, f, g, h], regex: ".*x.*y.*"}`, 200, true},
		"labels that were made":     {`{sourceLabels: [a], targetLabel: b, replacement: "$1$1$1$1$1$1$1$1"}, {action: keep, sourceLabels: [b, b, b, b], regex: "(.*,?){100}x"}`, 2, true},
		"names of labels":           {`{action: labeldrop, regex: ".*(` + strings.Repeat("ab|cd|", 20) + `x)"}`, 100, true},
		"a list of names":           {`{action: keep, sourceLabels: [__name__], regex: "` + strings.Repeat("http_requests_total|node_cpu_seconds_total|", 1_000) + `up"}`, 5, false},
		"what people write":         {`{action: drop, sourceLabels: [__name__, le], regex: "apiserver_request_duration_seconds_bucket;(0.15|0.25|0.3|0.35|0.4)"}`, 40, false},
		"parts of names":            {`{action: keep, sourceLabels: [__name__], regex: ".*(request|error|duration).*|node_.+"}`, 40, false},
		"labels of pods":            {`{action: labelmap, regex: "__meta_kubernetes_pod_label_(.+)"}, {sourceLabels: [a], targetLabel: b}`, 9, false},
		"an address with its parts": {`{sourceLabels: [__address__, port], targetLabel: __address__, regex: "([^:]+)(?::\\d+)?;(\\d+)", replacement: "$1:$2"}`, 5, false},
	} {
		m := &v1.PodMonitor{}
		steps := stepsOf(t, repeated(tc.step, tc.times))
		m.Spec.PodMetricsEndpoints = []v1.PodMetricsEndpoint{{Port: "web", RelabelConfigs: steps}, {Port: "api", MetricRelabelConfigs: steps}}
		err := CompilePodMonitor(m, settingsOf(t, ""), &assets.Static{}).Err
		if (err != nil) != tc.bad || tc.bad && !errors.Is(err, errRelabelWork) && !strings.Contains(err.Error(), errRelabelWork.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
