package truth

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v2"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

// input is a workload with its monitors.
type input struct {
	prometheus     *v1.Prometheus
	services       []*v1.ServiceMonitor
	pods           []*v1.PodMonitor
	probes         []*v1.Probe
	scrapes        []*v1alpha1.ScrapeConfig
	podTopology    bool // pods have the topology labels of their node
	endpointSlices bool // the cluster supports EndpointSlices
}

// compiled is the compiled configuration of an input.
type compiled struct {
	frame     promconfig.Frame
	fragments map[string][]promconfig.Fragment // by kind
	variables []map[string]string
	release   *semver.Version
	noPort    bool // feature no-default-scrape-port
}

// compile compiles an input for a version of Prometheus. It leaves out monitors that are rejected and returns their
// errors.
func (w *input) compile(t *testing.T, version string) (out compiled, rejected []error) {
	t.Helper()
	p := w.prometheus.DeepCopy()
	p.Spec.Version = "v" + version
	s, err := promconfig.ServerSettings(p, promconfig.Capabilities{
		EndpointSlice: w.endpointSlices, ShardRetention: true, TopologySharding: true, PodTopologyLabels: w.podTopology,
	})
	if err != nil {
		t.Fatal(err)
	}
	s = s.WithOrigins()
	none := &assets.Static{}
	out = compiled{fragments: map[string][]promconfig.Fragment{}, variables: s.ShardVariables(), release: semver.MustParse(version), noPort: len(p.Spec.EnableFeatures) > 0}
	if out.frame, err = promconfig.CompileServer(p, s, nil, none); err != nil {
		t.Fatal(err)
	}
	add := func(kind string, f promconfig.Fragment) {
		if f.Err != nil {
			rejected = append(rejected, f.Err)
			return
		}
		out.fragments[kind] = append(out.fragments[kind], f)
	}
	for _, m := range w.services {
		add(v1.ServiceMonitorKind, promconfig.CompileServiceMonitor(m, s, none))
	}
	for _, m := range w.pods {
		add(v1.PodMonitorKind, promconfig.CompilePodMonitor(m, s, none))
	}
	for _, m := range w.probes {
		add(v1.ProbeKind, promconfig.CompileProbe(m, s, none))
	}
	for _, m := range w.scrapes {
		add(v1alpha1.ScrapeConfigKind, promconfig.CompileScrapeConfig(m, s, none))
	}
	return out, rejected
}

// text returns the configuration as the operator writes it.
func (c *compiled) text() []byte {
	var out bytes.Buffer
	for _, part := range promconfig.Assemble(&c.frame, func(kind string) []promconfig.Fragment { return c.fragments[kind] }) {
		out.Write(part.Text)
		for _, f := range part.Monitors {
			out.Write(f.YAML)
		}
	}
	return out.Bytes()
}

// forShard returns the configuration of a shard. Its Kubernetes discoveries refer to a kubeconfig, because the server
// does not run in a pod.
func (c *compiled) forShard(t *testing.T, shard int, kubeconfig, own string) (doc yaml.MapSlice) {
	t.Helper()
	text := string(c.text())
	for name, value := range c.variables[shard] {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, job := range scrapeConfigs(doc) {
		lead(job.(yaml.MapSlice), kubeconfig, own)
	}
	return slices.DeleteFunc(doc, func(item yaml.MapItem) bool { return item.Key == "alerting" }) // contains a discovery, too
}

// scrapeConfigs returns the jobs of a configuration.
func scrapeConfigs(doc yaml.MapSlice) []any {
	for _, item := range doc {
		if item.Key == "scrape_configs" {
			jobs, _ := item.Value.([]any)
			return jobs
		}
	}
	return nil
}

// merge returns one configuration with the jobs of all given ones.
func merge(t *testing.T, docs ...yaml.MapSlice) string {
	t.Helper()
	var jobs []any
	for _, doc := range docs {
		jobs = append(jobs, scrapeConfigs(doc)...)
	}
	out := append(yaml.MapSlice{}, docs[0]...)
	for i := range out {
		if out[i].Key == "scrape_configs" {
			out[i].Value = jobs
		}
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lead sets the kubeconfig in the Kubernetes discoveries of a job.
func lead(job yaml.MapSlice, kubeconfig, own string) {
	for i, field := range job {
		if field.Key != "kubernetes_sd_configs" {
			continue
		}
		for k, sd := range field.Value.([]any) {
			field.Value.([]any)[k] = append(inOwn(sd.(yaml.MapSlice), own), yaml.MapItem{Key: "kubeconfig_file", Value: kubeconfig})
		}
		job[i] = field
	}
}

// inOwn replaces own_namespace, which works only in a pod, by the name of the namespace.
func inOwn(sd yaml.MapSlice, own string) yaml.MapSlice {
	for i, field := range sd {
		if field.Key != "namespaces" {
			continue
		}
		names, isOwn := []any{}, false
		for _, n := range field.Value.(yaml.MapSlice) {
			switch n.Key {
			case "names":
				names, _ = n.Value.([]any)
			case "own_namespace":
				isOwn, _ = n.Value.(bool)
			}
		}
		if isOwn {
			names = append(names, own)
		}
		sd[i].Value = yaml.MapSlice{{Key: "names", Value: names}}
	}
	return sd
}

// jobs returns the jobs of one shard, or of all shards for -1.
func (c *compiled) jobs(t *testing.T, shard int) (out []targets.Job) {
	t.Helper()
	shards := c.variables
	if shard >= 0 {
		shards = shards[shard : shard+1]
	}
	for _, kind := range []string{v1.ServiceMonitorKind, v1.PodMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind} {
		for _, f := range c.fragments[kind] {
			jobs, err := targets.ReadJobs(promconfig.JobText{Text: f.YAML, Origins: f.Origins, Head: c.frame.Head, Shards: shards, Release: c.release, NoDefaultPort: c.noPort})
			if err != nil {
				t.Fatalf("%v\n%s", err, f.YAML)
			}
			out = append(out, jobs...)
		}
	}
	return out
}

// ours returns the operator's result for each shard: the targets by job, and the number of targets in each state.
func (c *compiled) ours(ctx context.Context, t *testing.T, cluster lister.Cluster, own, account string) (out []map[string]seen, states map[targets.State]int) {
	t.Helper()
	all := c.jobs(t, -1)
	found, err := cluster.Find(ctx, all, lister.Workload{Namespace: own, ServiceAccount: account})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Notes) > 0 {
		t.Fatal(found.Notes)
	}
	states = map[targets.State]int{}
	onAll := make([]targets.Result, len(all))
	for i := range all {
		onAll[i] = all[i].Evaluate(found.Found[i])
		for state, n := range onAll[i].Counts() {
			states[state] += n
		}
	}
	for shard := range c.variables {
		jobs, of := c.jobs(t, shard), map[string]seen{}
		for i := range jobs {
			result := jobs[i].Evaluate(found.Found[i])
			if s := summary(t, result); len(s.Active)+s.Dropped > 0 {
				of[jobs[i].Name] = s
			}
			for k, target := range result.Targets() {
				if on, alone := slices.Contains(onAll[i].Rows[k].Shards, shard), target.State == targets.Kept; on != alone {
					t.Errorf("job %s, target %s: shard %d of %v, alone %s", jobs[i].Name, target.URL, shard, onAll[i].Rows[k].Shards, target.State)
				}
			}
		}
		out = append(out, of)
	}
	return out, states
}

// summary converts the result of one shard to the form of Prometheus. A target over the limit is active and fails.
func summary(t *testing.T, r targets.Result) (out seen) {
	t.Helper()
	for _, target := range r.Targets() {
		switch target.State {
		case targets.Kept, targets.OverLimit:
			out.Active = append(out.Active, line(target.URL, target.Labels))
		case targets.Dropped:
			out.Dropped++
		case targets.Unknown:
			t.Fatalf("job %s: %s", target.Job, target.Message)
		}
	}
	slices.Sort(out.Active)
	return out
}

// kubeconfig returns a kubeconfig for an API server without authentication.
func kubeconfig(url string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: %q}}]\nusers: [{name: a, user: {}}]\n"+
		"contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n", url)
}
