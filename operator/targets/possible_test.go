package targets

import (
	"testing"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// A gap concerns a job only if its relabel steps may keep one of the possible targets.
func TestPossible(t *testing.T) {
	possible := &Possible{
		Labels: []model.LabelSet{
			{"__meta_kubernetes_service_label_app": "cart", "__meta_kubernetes_endpoint_port_name": "http"},
			{"__meta_kubernetes_service_label_app": "cart", "__meta_kubernetes_endpoint_port_name": "admin"},
		},
		Known: []string{"__meta_kubernetes_service_", "__meta_kubernetes_endpoint_port_name"},
	}
	for steps, want := range map[string]bool{
		"": true,
		"{action: keep, source_labels: [__meta_kubernetes_service_label_app], regex: cart}":                                                                                            true,
		"{action: keep, source_labels: [__meta_kubernetes_service_label_app], regex: shop}":                                                                                            false,
		"{action: keep, source_labels: [__meta_kubernetes_endpoint_port_name], regex: admin}":                                                                                          true,
		"{action: keep, source_labels: [__meta_kubernetes_endpoint_port_name], regex: web}":                                                                                            false,
		"{action: drop, source_labels: [__meta_kubernetes_service_label_app], regex: cart}":                                                                                            false,
		"{action: keep, source_labels: [__meta_kubernetes_service_label_none], regex: x}":                                                                                              false, // known to be unset
		"{action: keep, source_labels: [__meta_kubernetes_pod_label_app], regex: x}":                                                                                                   true,
		"{action: keep, source_labels: [__meta_kubernetes_pod_label_app, __meta_kubernetes_service_label_app], regex: x;y}":                                                            true,
		"{action: keep, source_labels: [__address__], regex: x}":                                                                                                                       true,
		"{source_labels: [__meta_kubernetes_service_label_app], target_label: a}, {action: drop, source_labels: [a], regex: cart}":                                                     false,
		"{source_labels: [__meta_kubernetes_pod_name], target_label: a}, {action: keep, source_labels: [a], regex: x}":                                                                 true,
		"{source_labels: [__meta_kubernetes_pod_name], target_label: a}, {source_labels: [a], target_label: b}, {action: keep, source_labels: [b], regex: x}":                          true,
		"{source_labels: [__address__], modulus: 2, target_label: __tmp, action: hashmod}, {action: keep, source_labels: [__tmp], regex: 0}":                                           true,
		"{action: labelmap, regex: __meta_kubernetes_pod_label_(.+)}, {action: drop, source_labels: [__meta_kubernetes_service_label_app], regex: cart}":                               true,
		"{source_labels: [__meta_kubernetes_service_label_app], target_label: \"${1}\"}, {action: drop, source_labels: [__meta_kubernetes_service_label_app], regex: cart}":            true,
		"{action: keepequal, source_labels: [__meta_kubernetes_service_label_app], target_label: __meta_kubernetes_endpoint_port_name}":                                                false,
		"{action: dropequal, source_labels: [__meta_kubernetes_service_label_app], target_label: __meta_kubernetes_pod_name}":                                                          true,
		"{action: keep, source_labels: [job], regex: a}, {action: keep, source_labels: [__scheme__], regex: http}, {action: drop, source_labels: [__metrics_path__], regex: /metrics}": false,
	} {
		origins := make([]promconfig.Origin, 4)
		n := 0
		for _, c := range steps {
			if c == '{' {
				n++
			}
		}
		if steps == "{source_labels: [__meta_kubernetes_service_label_app], target_label: \"${1}\"}, {action: drop, source_labels: [__meta_kubernetes_service_label_app], regex: cart}" {
			n--
		}
		jobs, err := ReadJobs(promconfig.JobText{Text: []byte("- {job_name: a, relabel_configs: [" + steps + "]}"), Origins: [][]promconfig.Origin{origins[:n]}})
		if err != nil {
			t.Fatalf("%s: %v", steps, err)
		}
		rows := jobs[0].Evaluate(Found{Gaps: []Gap{{State: Unknown, Message: "why", Possible: possible}, {State: Unknown, Message: "other"}}}).Rows
		if got := len(rows) == 2; got != want {
			t.Errorf("%s: %d gaps", steps, len(rows))
		}
	}
}
