package jobtext

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// All fields that reports describe are read, whatever other fields a job has.
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

// The discoveries of all configurations that the operator generates in tests are found without reading the rest.
func TestDiscoveries(t *testing.T) {
	paths, err := filepath.Glob("../promconfig/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n, shorter := 0, 0
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			_, text, has := strings.Cut(string(f.Data), "\nscrape_configs:\n")
			if !has || !strings.HasPrefix(text, "- ") {
				continue
			}
			text, _, _ = strings.Cut("\n"+text, "\n#") // shards
			for i, line := range strings.Split(text[1:], "\n") {
				if i > 0 && line != "" && line[0] != ' ' && line[0] != '-' {
					text, _, _ = strings.Cut(text, "\n"+line) // the next section
					break
				}
			}
			text = strings.TrimSpace(text) + "\n"
			want, err := Read([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for i := range want {
				want[i].Steps = nil
				maps.DeleteFunc(want[i].Rest, func(key string, _ any) bool { return !strings.HasSuffix(key, "_sd_configs") })
			}
			got, err := Discoveries([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for i := range got {
				maps.DeleteFunc(got[i].Rest, func(key string, _ any) bool { return !strings.HasSuffix(key, "_sd_configs") })
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-read +found):\n%s", path, diff)
			}
			if n++; bytes.Contains([]byte(text), []byte("relabel_configs")) && len(discoveries([]byte(text))) < len(text)/2 {
				shorter++
			}
		}
	}
	if n < 10 || shorter < n/2 {
		t.Errorf("%d texts, of which %d are shortened by half", n, shorter)
	}
	const other = "  - job_name: a\n    kubernetes_sd_configs: []\n"
	if got := string(discoveries([]byte(other))); got != other {
		t.Errorf("a text in another form becomes %q", got)
	}
}

// The list of config-reloader is distinguished from other HTTP service discoveries.
func TestListed(t *testing.T) {
	jobs, err := Read([]byte(`
- {job_name: probe/demo/a, http_sd_configs: [{url: "http://127.0.0.1:8082/sd/probe%2Fdemo%2Fa"}]}
- {job_name: probe/demo/a, http_sd_configs: [{url: "http://127.0.0.1:8082/sd/probe%2Fdemo%2Fa"}], kubernetes_sd_configs: [{role: ingress}]}
- {job_name: probe/demo/a, http_sd_configs: [{url: "http://127.0.0.1:8082/sd/probe%2Fdemo%2Fb"}]}
- {job_name: probe/demo/a, kubernetes_sd_configs: [{role: ingress}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		discovery wellknown.TargetDiscovery
		others    int
	}{{wellknown.CentralDiscovery, 0}, {wellknown.BothDiscoveries, 0}, {wellknown.OwnDiscovery, 1}, {wellknown.OwnDiscovery, 0}} {
		if got := jobs[i].Discovery(); got != want.discovery || len(jobs[i].Others()) != want.others {
			t.Errorf("job %d: discovery %s, others %v", i, got, jobs[i].Others())
		}
	}
}
