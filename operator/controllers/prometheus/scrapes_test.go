package prometheus

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/targets"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// scraped returns the cluster for tests of ScrapesOf, with one object of each kind and a
// Secret with the workload's own jobs.
func scraped(t *testing.T) engine.Cluster {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: "team", Name: "web"}
	service, pod, probe, scrape := &v1.ServiceMonitor{ObjectMeta: meta}, &v1.PodMonitor{ObjectMeta: meta}, &v1.Probe{ObjectMeta: meta}, &v1alpha1.ScrapeConfig{ObjectMeta: meta}
	wrong := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "wrong"}}
	for text, into := range map[string]any{
		"{selector: {matchLabels: {app: web}}, endpoints: [{port: http}, {port: admin}]}":        &service.Spec,
		"{selector: {}, podMetricsEndpoints: [{port: http}]}":                                    &pod.Spec,
		"{prober: {url: 'p:1'}, targets: {staticConfig: {static: [a]}}}":                         &probe.Spec,
		"{consulSDConfigs: [{server: c}]}":                                                       &scrape.Spec,
		"{selector: {}, endpoints: [{port: http, basicAuth: {username: {name: gone, key: a}}}]}": &wrong.Spec,
	} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	var secrets assets.Static
	secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "own"}, Data: map[string][]byte{
		"jobs": []byte("- {job_name: own, static_configs: [{targets: [a, b]}], relabel_configs: [{regex: x, action: labeldrop}]}\n"),
	}})
	return engine.Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		Objects: (&selectable{
			services: []*v1.ServiceMonitor{service, wrong}, pods: []*v1.PodMonitor{pod}, probes: []*v1.Probe{probe}, scrapes: []*v1alpha1.ScrapeConfig{scrape},
		}).objects,
		References: &secrets,
	}.Offline()
}

// everything is a spec that selects all objects and has its own jobs.
const everything = "serviceMonitorSelector: {}, podMonitorSelector: {}, probeSelector: {}, scrapeConfigSelector: {}, shards: 2, additionalScrapeConfigs: {name: own, key: jobs}"

func scrapingServer(t *testing.T, spec string) *v1.Prometheus {
	t.Helper()
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}}
	if err := yaml.UnmarshalStrict([]byte("{"+spec+"}"), &p.Spec); err != nil {
		t.Fatal(err)
	}
	return p
}

// The jobs are the same, and in the same order, as in the configuration that a
// reconciliation writes. Each relabel step has its origin.
func TestScrapesAreTheConfiguration(t *testing.T) {
	opts := Options{Capabilities: promconfig.Capabilities{EndpointSlice: true}, Workload: benchConfig}
	p, cluster := scrapingServer(t, everything), scraped(t)
	in, err := gatherFor(opts, forServer(p), cluster)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var config strings.Builder
	if err := plan.WriteConfig(&config); err != nil {
		t.Fatal(err)
	}
	got, err := ScrapesOf(p, cluster, opts)
	if err != nil || got.Trouble != nil || got.Shards != 2 || got.PerNode || got.Unmanaged {
		t.Fatalf("%+v, %v", got, err)
	}
	var text strings.Builder
	var names []string
	for _, s := range got.Sources {
		if s.Err != nil {
			names = append(names, s.Kind+" "+s.Object.GetName()+": "+s.Err.Error())
			continue
		}
		text.Write(s.Document.Text)
		jobs, err := targets.ReadJobs(s.Document)
		if err != nil {
			t.Error(err)
		}
		for i := range jobs {
			names = append(names, s.Kind+s.Field+" "+jobs[i].Name+" "+jobs[i].Origins[len(jobs[i].Origins)-1].Path)
		}
		if len(s.Document.Head) == 0 || s.Document.Release.Major() != 3 {
			t.Errorf("%s: %+v", s.Kind, s.Document)
		}
	}
	if !strings.Contains(config.String(), "scrape_configs:\n"+text.String()) {
		t.Errorf("the configuration\n%s\ndoes not have\n%s", &config, &text)
	}
	want := []string{
		"ServiceMonitor serviceMonitor/team/web/0 operator: sharding",
		"ServiceMonitor serviceMonitor/team/web/1 operator: sharding",
		`ServiceMonitor wrong: spec.endpoints[0].basicAuth.username.name: Secret "team/gone" does not exist`,
		"PodMonitor podMonitor/team/web/0 operator: sharding",
		"Probe probe/team/web operator: sharding",
		"ScrapeConfig scrapeConfig/team/web operator: sharding",
		"spec.additionalScrapeConfigs own operator: sharding",
	}
	if strings.Join(names, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(names, "\n"))
	}
}

// A workload with an unrelated error still has the jobs of its monitors.
func TestScrapesOfAWorkloadInTrouble(t *testing.T) {
	spec := everything + ", version: 2.55.0, enableFeatures: [no-default-scrape-port], remoteWrite: [{url: 'http://x', basicAuth: {username: {name: gone, key: a}}}]"
	got, err := ScrapesOf(scrapingServer(t, spec), scraped(t), Options{})
	if err != nil || got.Trouble == nil || len(got.Sources) != 6 {
		t.Fatalf("%+v, %v", got, err)
	}
	if first := got.Sources[0].Document; first.Release.String() != "2.55.0" || !first.NoDefaultPort || !strings.Contains(string(first.Head), "scrape_interval: 30s") {
		t.Errorf("%+v", first)
	}
	if own := got.Sources[5]; own.Err == nil || own.Field != "spec.additionalScrapeConfigs" || !strings.Contains(own.Err.Error(), `"team/gone"`) {
		t.Errorf("%+v", own)
	}
}

func TestScrapesOfOthers(t *testing.T) {
	if _, err := ScrapesOf(scrapingServer(t, "version: none"), scraped(t), Options{}); err == nil {
		t.Error("a version that is none is no error")
	}
	if got, err := ScrapesOf(scrapingServer(t, ""), scraped(t), Options{}); err != nil || !got.Unmanaged || len(got.Sources) > 0 {
		t.Errorf("unmanaged: %+v, %v", got, err)
	}
	a := &v1alpha1.PrometheusAgent{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "edge"}}
	a.Spec.Mode, a.Spec.PodMonitorSelector = v1alpha1.DaemonSetPrometheusAgentMode, &metav1.LabelSelector{}
	got, err := ScrapesOf(a, scraped(t), Options{Capabilities: promconfig.Capabilities{AgentDaemonSet: true}})
	if err != nil || !got.PerNode || got.Shards != 1 || len(got.Sources) != 1 {
		t.Errorf("DaemonSet: %+v, %v", got, err)
	}
}
