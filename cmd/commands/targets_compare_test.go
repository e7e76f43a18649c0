package commands

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// has holds the targets of a pod.
type has struct {
	targets []promapi.Target
	dropped map[string]int
}

// answer responds like the API of Prometheus.
func (h *has) answer(query url.Values) (int, any) {
	data := map[string]any{}
	if query.Get("state") == "active" {
		data["activeTargets"] = h.targets
	} else {
		data["droppedTargetCounts"] = h.dropped
	}
	return 200, map[string]any{"status": "success", "data": data}
}

// in returns the index of the target with this string in its URL.
func (h *has) in(t *testing.T, part string) int {
	t.Helper()
	i := slices.IndexFunc(h.targets, func(o promapi.Target) bool { return strings.Contains(o.URL, part) })
	if i < 0 {
		t.Fatalf("no target %s in %v", part, h.targets)
	}
	return i
}

// comparing serves cluster.yaml with replacements, and pods of monitoring/k8s that have the
// targets which the command finds. begin and end surround the addresses of the pods.
func comparing(t *testing.T, begin, end string, replace ...string) (s *served, api string, pods map[string]*has) {
	t.Helper()
	text, err := os.ReadFile("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	s = &served{pods: map[string]func(url.Values) (int, any){}}
	api = serveManifests(t, file, s)
	out, stderr, _ := fromCluster(t, api, "prometheus monitoring/k8s --format=json")
	var report preview.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	pods = map[string]*has{}
	for shard, set := range []string{"prometheus-k8s", "prometheus-k8s-shard-1"} {
		h := &has{dropped: map[string]int{}}
		for _, one := range report.Items {
			switch here := slices.Contains(one.Shards, shard); {
			case here:
				raw := strings.Replace(one.URL, "<hidden>", "do-not-show", 1)
				h.targets = append(h.targets, promapi.Target{Job: one.Job, URL: raw, Labels: one.Labels, Health: "up"})
			case one.State == targets.Kept, one.State == targets.Dropped:
				h.dropped[one.Job]++
			}
		}
		pods[set+"-0"] = h
		s.pods[begin+set+"-0:9090"+end+"/api/v1/targets"] = h.answer
	}
	return s, api, pods
}

// noConsul is a replacement that removes targets which only Prometheus can discover.
var noConsul = []string{"consulSDConfigs: [{server: \"consul:8500\"}]", "staticConfigs: []"}

func TestCompareWithEqualPods(t *testing.T) {
	for name, tc := range map[string]struct {
		begin, end string
		replace    []string
	}{
		"http":  {"http:", "", nil},
		"https": {"https:", "/a/b", []string{"  shards: 2\n", "  shards: 2\n  routePrefix: /a/b/\n  web: {tlsConfig: {cert: {secret: {name: c, key: c}}, keySecret: {name: c, key: k}}}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, url, _ := comparing(t, tc.begin, tc.end, append(tc.replace, noConsul...)...)
			out, stderr, code := fromCluster(t, url, "prometheus monitoring/k8s --compare --fail-on=difference")
			if !strings.HasSuffix(out, "\n\nPrometheus monitoring/k8s   the same as 2 pods\n") || code != 0 {
				t.Errorf("exit code %d\n%s%s", code, out, stderr)
			}
			out, stderr, code = fromCluster(t, url, "pmon demo/jobs --compare --shard=1 --format=json")
			if code != 0 || strings.Contains(out, "shard-0") || !strings.Contains(out, `"targets": 1`) || !strings.Contains(out, `"differences": []`) {
				t.Errorf("exit code %d\n%s%s", code, out, stderr)
			}
		})
	}
}

// Each difference is reported with its pod, in all formats.
func TestCompareTellsDifferences(t *testing.T) {
	_, url, pods := comparing(t, "http:", "", noConsul...)
	first, second := pods["prometheus-k8s-0"], pods["prometheus-k8s-shard-1-0"]
	gone := first.in(t, "http://10.0.0.8:8080")
	first.targets = slices.Delete(first.targets, gone, gone+1)
	changed := &first.targets[first.in(t, "%2Ffirst.example")]
	changed.Labels = maps.Clone(changed.Labels)
	changed.Labels["instance"] = "old"
	down := &first.targets[first.in(t, "/probe?module=http&token=")]
	down.Health, down.LastError = "down", `Get "http://first.example/probe?token=do-not-show": connection`+"\x1b refused"
	second.targets = append(second.targets,
		promapi.Target{Job: "serviceMonitor/demo/web/0", URL: "http://10.0.0.9:8080/metrics", Labels: map[string]string{"pod": "web-test-1"}, Health: "up"},
		promapi.Target{Job: "serviceMonitor/demo/web/0", URL: "http://10.0.0.7:8080/metrics", Labels: map[string]string{"pod": "web-0"}, Health: "up"},
		promapi.Target{Job: "former", URL: "http://former/", Labels: map[string]string{}, Health: "up"})
	second.dropped["podMonitor/demo/jobs/0"]++

	out, stderr, code := fromCluster(t, url, "--compare --fail-on=difference")
	for _, want := range []string{
		"\nPrometheus monitoring/k8s   6 differences from 2 pods, 1 target down\n",
		"  not in pod prometheus-k8s-0   http://10.0.0.8:8080/metrics   job serviceMonitor/demo/web/0\n    here  {container=",
		"  other labels in pod prometheus-k8s-0   http://prober:9115/probe?module=http_2xx&target=https%3A%2F%2Ffirst.example   job probe/demo/sites\n    here  {instance=\"https://first.example\"",
		"    pod   {instance=\"old\"",
		"  only in pod prometheus-k8s-shard-1-0   http://10.0.0.9:8080/metrics   job serviceMonitor/demo/web/0\n    pod  {pod=\"web-test-1\"}\n    spec.endpoints[0].relabelings[0] drops",
		"http://10.0.0.7:8080/metrics   job serviceMonitor/demo/web/0\n    pod  {pod=\"web-0\"}\n    here it belongs to shard 0\n",
		"  only in pod prometheus-k8s-shard-1-0   http://former/   job former\n    pod  {}\n    there is no such job here\n",
		"  job podMonitor/demo/jobs/0 drops 5 targets here and 6 in pod prometheus-k8s-shard-1-0\n",
		"  down in pod prometheus-k8s-0   http://first.example/probe?module=http&token=<hidden>   job blackbox\n    connection  refused\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("does not say %q", want)
		}
	}
	if code != 1 || strings.Contains(out, "do-not-show") || t.Failed() {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, format := range []string{"json", "csv"} {
		out, stderr, code := fromCluster(t, url, "--compare --format="+format)
		for _, want := range []string{"onlyHere", "onlyInPod", "otherLabels", "droppedCounts", "down", "prometheus-k8s-shard-1-0"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
		if code != 2 || strings.Contains(out, "do-not-show") || t.Failed() { // no pod of team-b responds
			t.Errorf("exit code %d\n%s%s", code, out, stderr)
		}
	}
	if out, _, _ := fromCluster(t, url, "prometheus monitoring/k8s --compare --limit=2"); !strings.Contains(out, "  and 5 more; --limit=0 lists all\n") {
		t.Errorf("%s", out)
	}
	// Only the requested targets are compared.
	if out, stderr, code := fromCluster(t, url, "scfg demo/kubelets --fail-on=difference"); code != 0 || !strings.Contains(out, "the same as 2 pods") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// If a pod cannot be queried, the result is unknown with a cause, and never equal.
func TestCompareWithPodsThatDoNotAnswer(t *testing.T) {
	local := []string{"  shards: 2\n", "  shards: 2\n  listenLocal: true\n"}
	for name, tc := range map[string]struct {
		replace []string
		change  func(*served)
		want    string
	}{
		"forbidden":   {nil, func(s *served) { s.denied = []string{"pods/proxy"} }, "unknown  pod prometheus-k8s-0: you may not get pods/proxy in namespace monitoring; ask for the verb get\n"},
		"unreachable": {nil, func(s *served) { delete(s.pods, "http:prometheus-k8s-shard-1-0:9090/api/v1/targets") }, "unknown  pod prometheus-k8s-shard-1-0: the API server does not reach port 9090 of it by http"},
		"no API": {nil, func(s *served) {
			s.pods["http:prometheus-k8s-0:9090/api/v1/targets"] = func(url.Values) (int, any) { return 200, "a page" }
		}, "unknown  pod prometheus-k8s-0: what answers on port 9090 is not the API of Prometheus\n"},
		"another path": {nil, func(s *served) {
			s.pods["http:prometheus-k8s-0:9090/api/v1/targets"] = func(url.Values) (int, any) { return 404, "404 page not found" }
		}, "unknown  pod prometheus-k8s-0: there is no API of Prometheus at http://POD:9090/api/v1/targets\n"},
		"listenLocal": {local, func(*served) {}, "spec.listenLocal is true, so that its pods answer only themselves\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, api, _ := comparing(t, "http:", "", append(tc.replace, noConsul...)...)
			tc.change(s)
			out, stderr, code := fromCluster(t, api, "prometheus monitoring/k8s --fail-on=difference")
			if code != 2 || !strings.Contains(out, tc.want) || strings.Contains(out, "the same as") {
				t.Errorf("exit code %d, want 2 and %q\n%s%s", code, tc.want, out, stderr)
			}
		})
	}
	t.Run("a job that is not known", func(t *testing.T) {
		_, url, _ := comparing(t, "http:", "")
		out, stderr, code := fromCluster(t, url, "prometheus monitoring/k8s --compare")
		if code != 2 || !strings.Contains(out, "  not compared  job scrapeConfig/demo/registry: targets of consul_sd_configs are found") || !strings.Contains(out, "no difference is known from 2 pods") {
			t.Errorf("exit code %d\n%s%s", code, out, stderr)
		}
	})
}
