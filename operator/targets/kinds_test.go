package targets

import (
	"fmt"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Jobs of every kind and of both major versions can be parsed, and their steps are attributed to
// the user's fields.
func TestJobsOfEveryKind(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "demo", Name: "x"}
	pod := &v1.PodMonitor{ObjectMeta: meta}
	probe := &v1.Probe{ObjectMeta: meta}
	scrape := &v1alpha1.ScrapeConfig{ObjectMeta: meta}
	for text, into := range map[string]any{
		"{selector: {matchLabels: {app: web}}, podMetricsEndpoints: [{portNumber: 80, scrapeClassicHistograms: true}]}":                                               &pod.Spec,
		"{prober: {url: 'prober:9115'}, module: http, targets: {staticConfig: {static: [a.example, b.example], labels: {team: web}}}}":                                &probe.Spec,
		"{staticConfigs: [{targets: ['a:1', 'b:1']}], consulSDConfigs: [{server: consul}], relabelings: [{sourceLabels: [__address__], regex: 'a:1', action: drop}]}": &scrape.Spec,
	} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	found := Found{Groups: []*targetgroup.Group{{Targets: []model.LabelSet{{
		"__address__": "10.0.0.1:80", "__meta_kubernetes_pod_name": "web-0", "__meta_kubernetes_namespace": "demo",
		"__meta_kubernetes_pod_label_app": "web", "__meta_kubernetes_pod_labelpresent_app": "true", "__meta_kubernetes_pod_container_port_number": "8080",
	}}}}}
	for _, version := range []string{"2.47.0", "2.55.1", "3.0.0", "3.13.2"} {
		p := &v1.Prometheus{ObjectMeta: meta}
		p.Spec.Version = version
		s, err := promconfig.ServerSettings(p, promconfig.Capabilities{ShardRetention: true})
		if err != nil {
			t.Fatal(err)
		}
		s = s.WithOrigins()
		for kind, tc := range map[string]struct {
			fragment promconfig.Fragment
			found    Found
			want     []string
		}{
			"PodMonitor": {promconfig.CompilePodMonitor(pod, s, &assets.Static{}), found, []string{
				"dropped http://10.0.0.1:80/metrics by spec.podMetricsEndpoints[0].portNumber: " +
					`spec.podMetricsEndpoints[0].portNumber keeps targets whose container port number matches "80"; it is "8080"`,
			}},
			"Probe": {promconfig.CompileProbe(probe, s, &assets.Static{}), Found{}, []string{
				"kept http://prober:9115/probe?module=http&target=a.example", "kept http://prober:9115/probe?module=http&target=b.example",
			}},
			"ScrapeConfig": {promconfig.CompileScrapeConfig(scrape, s, &assets.Static{}), Found{}, []string{
				`dropped http://a:1/metrics by spec.relabelings[0]: spec.relabelings[0] drops targets whose label __address__ matches "a:1"; it is "a:1"`,
				"kept http://b:1/metrics", "unknown ",
			}},
		} {
			if tc.fragment.Err != nil {
				t.Fatal(tc.fragment.Err)
			}
			jobs, err := ReadJobs(promconfig.JobText{Text: tc.fragment.YAML, Origins: tc.fragment.Origins, Shards: s.ShardVariables(), Release: semver.MustParse(version)})
			if err != nil {
				t.Errorf("%s for %s: %v", kind, version, err)
				continue
			}
			var got []string
			for _, target := range jobs[0].Evaluate(tc.found).Targets() {
				line := fmt.Sprint(target.State, " ", target.URL)
				if target.Drop != nil {
					line += " by " + target.Drop.Origin + ": " + target.Drop.Message
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s for %s: %s", kind, version, diff)
			}
		}
	}
}
