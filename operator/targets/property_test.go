package targets

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/storage"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// random generates jobs and groups from few names and values so that steps interact.
type random struct{ *rand.Rand }

func (r random) of(words ...string) string { return words[r.IntN(len(words))] }

func (r random) label() string {
	return r.of("__address__", "__meta_a", "__meta_b", "__tmp_hash", "a", "b", "job", "instance", "__scheme__", "__metrics_path__", "__param_x", "__scrape_interval__")
}

// step returns a random relabel step. Labels are mapped to distinct names, because the result of
// mapping two labels to one name is random in Prometheus itself.
func (r random) step(i int) string {
	regex := r.of("(.*)", "(.+)", "a", "b|c", "(a|b).*", "", "http", "10s", ".*[02468]")
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("{action: keep, source_labels: [%s], regex: %q}", r.label(), r.of(regex, "(.*)", "(.+)", ".*"))
	case 1:
		return fmt.Sprintf("{action: drop, source_labels: [%s, %s], separator: %q, regex: %q}", r.label(), r.label(), r.of("", ";", "a"), regex)
	case 2:
		return fmt.Sprintf("{action: hashmod, source_labels: [%s], target_label: %s, modulus: %d}", r.label(), r.label(), 1+r.IntN(3))
	case 3:
		return fmt.Sprintf("{action: labelmap, regex: %q, replacement: m%d_$1}", r.of("__meta_(.+)", "(a)"), i)
	case 4:
		return fmt.Sprintf("{action: labeldrop, regex: %q}", r.of("a", "__meta_.*", "__param_x", "__address__|b", "__scheme__"))
	case 5:
		return fmt.Sprintf("{action: %s, source_labels: [%s], target_label: %s}", r.of("keepequal", "dropequal"), r.label(), r.label())
	case 6:
		return fmt.Sprintf("{action: %s, source_labels: [%s], target_label: %s}", r.of("lowercase", "uppercase"), r.label(), r.label())
	}
	return fmt.Sprintf("{source_labels: [%s], regex: %q, target_label: %s, replacement: %q}", r.label(), regex, r.label(),
		r.of("$1", "a", "", "x$1", "https", "1m", "$(SHARD)"))
}

// job returns the text of a job and the number of its steps.
func (r random) job(name string) (text string, steps int) {
	var lines []string
	for i := range r.IntN(8) {
		lines = append(lines, r.step(i))
	}
	if r.IntN(2) == 0 {
		lines = append(lines,
			"{source_labels: [__address__, __tmp_hash], target_label: __tmp_hash, regex: (.+);, replacement: $1}",
			"{source_labels: [__tmp_hash], target_label: __tmp_hash, modulus: 3, action: hashmod}",
			`{source_labels: [__tmp_hash, __tmp_disable_sharding], regex: "$(SHARD);|.+;.+", action: keep}`)
	}
	if r.IntN(4) == 0 {
		lines = append(lines, r.step(99))
	}
	return fmt.Sprintf("- {job_name: %s, target_limit: %d, params: {x: [%q, z]}, metrics_path: /a, scrape_interval: 20s, relabel_configs: [%s]}",
		name, r.IntN(2)*r.IntN(12), r.of("", "a"), strings.Join(lines, ", ")), len(lines)
}

func (r random) groups() (out []*targetgroup.Group) {
	for range r.IntN(4) {
		g := &targetgroup.Group{Labels: r.labels()}
		for range r.IntN(6) {
			own := r.labels()
			own["__address__"] = model.LabelValue(fmt.Sprintf("10.0.0.%d:80", r.IntN(9)))
			g.Targets = append(g.Targets, own)
		}
		out = append(out, g)
	}
	return out
}

func (r random) labels() model.LabelSet {
	out := model.LabelSet{}
	for range r.IntN(5) {
		out[model.LabelName(r.of("__meta_a", "__meta_b", "a", "b", "job"))] = model.LabelValue(r.of("a", "b", "c", "", "10s"))
	}
	return out
}

// pools runs the scrape pools of Prometheus and returns by job the URL and labels of the active
// targets, sorted, and the number of dropped ones.
func pools(t *testing.T, text string, groups map[string][]*targetgroup.Group) (active map[string][]string, dropped map[string]int) {
	t.Helper()
	loaded, err := config.Load(text, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m, err := scrape.NewManager(&scrape.Options{DiscoveryReloadOnStartup: true}, nil, nil, struct{ storage.Appendable }{}, nil, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.ApplyConfig(loaded); err != nil {
		t.Fatal(err)
	}
	updates := make(chan map[string][]*targetgroup.Group)
	go func() { _ = m.Run(updates) }()
	defer m.Stop()
	updates <- groups
	synctest.Wait() // all pools are in sync, and no scrape is due because no time passes

	active = map[string][]string{}
	lb := labels.NewBuilder(labels.EmptyLabels())
	for job, targets := range m.TargetsActive() {
		for _, target := range targets {
			active[job] = append(active[job], target.URL().String()+" "+target.Labels(lb).String())
		}
		slices.Sort(active[job])
	}
	return active, m.TargetsDroppedCounts()
}

// checkLikePrometheus compares the evaluation of random jobs on all shards with that of Prometheus
// and returns the number of targets by state.
func checkLikePrometheus(t *testing.T, seed uint64) map[State]int {
	t.Helper()
	r := random{rand.New(rand.NewPCG(seed, 0))}
	const shards = 3
	const head = "global: {scrape_interval: 15s}\n"
	doc := promconfig.JobText{Head: []byte(head)}
	groups := map[string][]*targetgroup.Group{}
	for i := range 20 {
		name := fmt.Sprintf("job-%d", i)
		text, steps := r.job(name)
		doc.Text = append(append(doc.Text, text...), '\n')
		doc.Origins = append(doc.Origins, make([]promconfig.Origin, steps))
		groups[name] = r.groups()
	}
	for i := range shards {
		doc.Shards = append(doc.Shards, map[string]string{"SHARD": strconv.Itoa(i)})
	}
	jobs, err := ReadJobs(doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc.Text)
	}
	counts := map[State]int{}
	for shard, variables := range doc.Shards {
		text := head + "scrape_configs:\n" + string(substitute(doc.Text, variables))
		active, dropped := pools(t, text, groups)
		for i := range jobs {
			j := &jobs[i]
			alone := jobs[i]
			alone.shards, alone.common = j.shards[shard:shard+1], len(j.Origins)
			alone.sieve = newSieve(alone.shards)
			result := alone.Evaluate(Found{Groups: groups[j.Name]})
			compare(t, doc, j.Name, shard, result, active[j.Name], dropped[j.Name])
			explained(t, doc, &alone, result)
			onAll(t, doc, j, shard, result, groups[j.Name])
			counts[wholeGroup] += asWhole(t, doc, j, groups[j.Name])
			for state, n := range result.Counts() {
				counts[state] += n
			}
		}
	}
	return counts
}

// compare compares the result for a shard with that of Prometheus.
func compare(t *testing.T, doc promconfig.JobText, job string, shard int, got Result, active []string, dropped int) {
	t.Helper()
	var urls []string
	for _, target := range got.Targets() {
		if target.State == Kept || target.State == OverLimit { // targets over the limit are active and fail
			urls = append(urls, target.URL+" "+labels.FromMap(target.Labels).String())
		}
	}
	slices.Sort(urls)
	if diff := cmp.Diff(active, urls); diff != "" {
		t.Errorf("%s on shard %d: (-Prometheus +ours)\n%s\n%s", job, shard, diff, doc.Text)
	}
	if n := got.Counts()[Dropped]; n != dropped {
		t.Errorf("%s on shard %d: %d dropped, by Prometheus %d\n%s", job, shard, n, dropped, doc.Text)
	}
}

// explained checks that a target was dropped by the first step that drops it, with the labels that
// it has there.
func explained(t *testing.T, doc promconfig.JobText, j *Job, got Result) {
	t.Helper()
	lb := labels.NewBuilder(labels.EmptyLabels())
	for i := range got.Rows {
		r := &got.Rows[i]
		if r.Drop == nil {
			continue
		}
		steps, at := j.shards[0].RelabelConfigs, r.Drop.Step-1
		scrape.PopulateDiscoveredLabels(lb, j.shards[0], r.own, r.shared)
		before := relabel.ProcessBuilder(lb, steps[:at]...)
		var values []string
		for _, name := range steps[at].SourceLabels {
			values = append(values, lb.Get(string(name)))
		}
		if value := strings.Join(values, steps[at].Separator); !before || relabel.ProcessBuilder(lb, steps[at]) || value != r.Drop.Value {
			t.Errorf("%s: %v dropped by step %d for %q, want %q\n%s", j.Name, r.own, r.Drop.Step, r.Drop.Value, value, doc.Text)
		}
	}
}

// onAll compares the evaluation for all shards with that for one.
func onAll(t *testing.T, doc promconfig.JobText, j *Job, shard int, one Result, groups []*targetgroup.Group) {
	t.Helper()
	all := j.Evaluate(Found{Groups: groups})
	for i, target := range all.Targets() {
		if has, kept := slices.Contains(target.Shards, shard), one.Rows[i].State == Kept; has != kept {
			t.Errorf("%s, target %s: on shards %v, alone on shard %d %s\n%s", j.Name, target.URL, target.Shards, shard, one.Rows[i].State, doc.Text)
		}
		if target.State == Dropped && (target.Drop.Step < 1 || target.Drop.Step > len(j.Origins)) {
			t.Errorf("%s: dropped by step %d of %d", j.Name, target.Drop.Step, len(j.Origins))
		}
	}
}

// wholeGroup is the state under which asWhole counts targets.
const wholeGroup State = "in a whole group"

// asWhole compares the steps that a Dropper returns for groups with the outcomes of their targets. It returns the number
// of targets in groups that it drops.
func asWhole(t *testing.T, doc promconfig.JobText, j *Job, groups []*targetgroup.Group) (n int) {
	t.Helper()
	d := j.Dropper()
	for _, g := range groups {
		step := d.Step(d.Outline(g.Labels, func(name model.LabelName) bool {
			return slices.ContainsFunc(g.Targets, func(of model.LabelSet) bool { _, has := of[name]; return has })
		}))
		for _, outcome := range j.Outcomes(g) {
			if step >= 0 && (outcome.State != Dropped || outcome.Step != step+1) {
				t.Errorf("%s: step %d drops the whole group, and a target is %s by step %d\n%s", j.Name, step+1, outcome.State, outcome.Step, doc.Text)
			}
		}
		if step >= 0 {
			n += len(g.Targets)
		}
	}
	return n
}

// isolate replaces the resolver that Prometheus uses for the host name by a Go resolver that reads
// /etc/hosts and queries no server. The resolver of the C library keeps channels between synctest
// bubbles, and a server may be slow. State shared by all resolvers is initialized here, outside of
// the bubbles.
func isolate(t testing.TB) {
	t.Helper()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no server is asked in this test")
	}}
	t.Cleanup(func() { net.DefaultResolver = before })
	if _, err := net.LookupAddr("192.0.2.1"); err != nil {
		t.Log(err) // it is not in /etc/hosts
	}
}

// Kept and dropped targets are equal to those of the scrape pools of Prometheus.
func TestLikePrometheus(t *testing.T) {
	isolate(t)
	counts := map[State]int{}
	for seed := range uint64(25) {
		synctest.Test(t, func(t *testing.T) {
			for state, n := range checkLikePrometheus(t, seed) {
				counts[state] += n
			}
		})
	}
	for _, state := range []State{Kept, Dropped, Invalid, Duplicate, OverLimit, wholeGroup} {
		if counts[state] < 20 {
			t.Errorf("only %d targets are %s", counts[state], state)
		}
	}
}

func FuzzLikePrometheus(f *testing.F) {
	isolate(f)
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { checkLikePrometheus(t, seed) })
	})
}
