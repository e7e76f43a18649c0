package jobtext

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All that reports describe is read, whatever else a job has.
func TestRead(t *testing.T) {
	jobs, err := Read([]byte(`
- job_name: a
  scrape_interval: 30s
  kubernetes_sd_configs:
  - {role: pod, namespaces: {own_namespace: true, names: [demo]}, attach_metadata: {node: true}}
  - {role: node, api_server: "https://a"}
  static_configs: [{targets: [a, b], labels: {x: y}}]
  dns_sd_configs: [{names: [a]}]
  consul_sd_configs: [{server: a}]
  relabel_configs:
  - {source_labels: [a, b], target_label: c, regex: 5, action: keep}
- job_name: b
`))
	if err != nil {
		t.Fatal(err)
	}
	pod, node := Kubernetes{Role: "pod"}, Kubernetes{Role: "node", APIServer: "https://a"}
	pod.Namespaces.Names, pod.Namespaces.Own, pod.Attach.Node = []string{"demo"}, true, true
	if diff := cmp.Diff([]string{"consul_sd_configs", "dns_sd_configs"}, jobs[0].Others()); diff != "" {
		t.Error(diff)
	}
	jobs[0].Rest = nil
	want := []Job{{
		Name: "a", Kubernetes: []Kubernetes{pod, node}, Static: []Static{{Targets: []string{"a", "b"}}},
		Steps: []Step{{Source: []string{"a", "b"}, Target: "c", Regex: "5", Action: "keep"}},
	}, {Name: "b"}}
	if diff := cmp.Diff(want, jobs); diff != "" {
		t.Error(diff)
	}
	if jobs, err := Read(nil); len(jobs) != 0 || err != nil {
		t.Errorf("no text: %v, %v", jobs, err)
	}
	if _, err := Read([]byte("a: b")); err == nil {
		t.Error("a map is read as jobs")
	}
}
