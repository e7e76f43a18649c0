package preview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// web is the object with the jobs, main the workload.
var (
	web  = catalog.Ref{Kind: "PodMonitor", Namespace: "demo", Name: "web"}
	main = catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}
)

// workload returns a workload with one job of object web per text.
func workload(t testing.TB, shards int, jobs ...string) Workload {
	t.Helper()
	out := Workload{Ref: main, Shards: shards}
	for _, text := range jobs {
		doc := promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{make([]promconfig.Origin, strings.Count(text, "action:"))}}
		for i := range doc.Origins[0] {
			doc.Origins[0][i].Path = fmt.Sprintf("spec.relabelings[%d]", i)
		}
		for i := range shards {
			doc.Shards = append(doc.Shards, map[string]string{"SHARD": fmt.Sprint(i)})
		}
		read, err := targets.ReadJobs(doc)
		if err != nil {
			t.Fatal(err)
		}
		out.parts = append(out.parts, part{object: Object{Ref: web, State: Accepted}, jobs: read})
	}
	return out
}

// pods is a [Finder] of n pods in namespace demo, with optional gaps.
type pods struct {
	n    int
	gaps []targets.Gap
	err  error
}

// Find implements Finder.
func (p pods) Find(_ context.Context, jobs []targets.Job, _ *Workload) (found []targets.Found, notes []string, err error) {
	for range jobs {
		group := &targetgroup.Group{}
		for i := range p.n {
			group.Targets = append(group.Targets, model.LabelSet{
				"__address__": model.LabelValue(fmt.Sprintf("10.0.0.%d:80", i)), "__meta_kubernetes_namespace": "demo",
				"__meta_kubernetes_pod_name": model.LabelValue(fmt.Sprintf("web-%d", i)), "__meta_kubernetes_pod_label_n": model.LabelValue(fmt.Sprint(i)),
			})
		}
		found = append(found, targets.Found{Groups: []*targetgroup.Group{group}, Gaps: p.gaps})
	}
	return found, nil, p.err
}

func ask(t *testing.T, w Workload, f Finder, q Query) Report {
	t.Helper()
	out, err := Run(t.Context(), []Workload{w}, f, q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const everyPod = "- {job_name: all, relabel_configs: []}"

// Counts include all targets, with any limit on the list.
func TestLimitLeavesCounts(t *testing.T) {
	w := workload(t, 1, everyPod, "- {job_name: half, relabel_configs: [{source_labels: [__meta_kubernetes_pod_label_n], regex: '.*[02468]', action: keep}]}")
	for _, limit := range []int{0, 1, 7, 1000} {
		r := ask(t, w, pods{n: 100}, Query{Shard: AllShards, Limit: limit})
		if want := (Counts{Kept: 150, Dropped: map[string]int{"spec.relabelings[0]": 50}}); !cmp.Equal(want, r.Counts) {
			t.Errorf("limit %d: %s", limit, cmp.Diff(want, r.Counts))
		}
		if len(r.Items)+r.Omitted != 200 || limit > 0 && len(r.Items) > limit {
			t.Errorf("limit %d: %d listed, %d omitted", limit, len(r.Items), r.Omitted)
		}
	}
	r := ask(t, w, pods{n: 100}, Query{Shard: AllShards, States: []targets.State{}})
	if len(r.Items)+r.Omitted != 0 || r.Counts.Kept != 150 {
		t.Errorf("none are asked for: %d listed, %d omitted, %+v", len(r.Items), r.Omitted, r.Counts)
	}
	reason := r.Workloads[0].Objects[1].Jobs[0].Reasons[0]
	if reason.Count != 50 || len(reason.Found) != maxFound {
		t.Errorf("%+v", reason)
	}
}

// Each kept target is on some shard, and a query for one shard counts the others as OtherShard.
func TestShards(t *testing.T) {
	w := workload(t, 3, "- {job_name: a, relabel_configs: [{source_labels: [__address__], modulus: 3, target_label: __tmp, action: hashmod}, {source_labels: [__tmp], regex: $(SHARD), action: keep}]}")
	all := ask(t, w, pods{n: 60}, Query{Shard: AllShards})
	sum := 0
	for shard, n := range all.Workloads[0].PerShard {
		one := ask(t, w, pods{n: 60}, Query{Shard: shard})
		if one.Counts.Kept != n || one.Counts.OtherShard != 60-n || len(one.WithoutTargets) > 0 {
			t.Errorf("shard %d: %+v, together %d", shard, one.Counts, n)
		}
		sum += n
	}
	if sum != 60 || all.Counts.Kept != 60 {
		t.Errorf("%v, %+v", all.Workloads[0].PerShard, all.Counts)
	}
}

// A gap is reported as unknown, and never as "no targets" or a failure.
func TestGaps(t *testing.T) {
	for _, state := range []targets.State{targets.Unknown, targets.Forbidden} {
		r := ask(t, workload(t, 1, everyPod), pods{gaps: []targets.Gap{{State: state, Message: "why"}}}, Query{Shard: AllShards})
		if r.Fails(Conditions) || !r.Undecided(nil) || !r.Undecided([]string{noTargets}) || len(r.WithoutTargets) > 0 {
			t.Errorf("%s: %+v", state, r)
		}
		var b strings.Builder
		if err := r.Print(&b, Style{Format: "text", Labels: "after"}); err != nil || strings.Contains(b.String(), "no targets") || !strings.Contains(b.String(), "why") {
			t.Errorf("%s: %v\n%s", state, err, &b)
		}
	}
	gap := pods{n: 1, gaps: []targets.Gap{{State: targets.Unknown, Message: "why"}}}
	r := ask(t, workload(t, 1, everyPod), gap, Query{Shard: AllShards})
	if r.Undecided([]string{noTargets}) || !r.Undecided(nil) || !r.Undecided([]string{noTargets, "dropped"}) {
		t.Errorf("%+v", r)
	}
	if r := ask(t, workload(t, 1, everyPod), gap, Query{Shard: AllShards, Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}}); r.Undecided(nil) {
		t.Errorf("the pod is scraped: %+v", r)
	}
	if _, err := Run(t.Context(), []Workload{workload(t, 1, everyPod)}, pods{err: errors.New("down")}, Query{Shard: AllShards}); err == nil || !strings.Contains(err.Error(), "Prometheus demo/main: down") {
		t.Errorf("%v", err)
	}
}

// No format shows credentials.
func TestSecretsAreHidden(t *testing.T) {
	job := "- {job_name: a, params: {Token: [s3cret], module: [http], api_key: [s3cret]}, relabel_configs: [" +
		"{source_labels: [__param_Token, __meta_kubernetes_pod_name], regex: '.*web-1', action: drop}, " +
		"{source_labels: [__meta_kubernetes_pod_name], target_label: __param_Token, action: dropequal}]}"
	r := ask(t, workload(t, 1, job, job), pods{n: 2}, Query{Shard: AllShards, Overlaps: true})
	if r.Counts.Kept == 0 || r.Counts.dropped() == 0 || len(r.Overlaps) == 0 {
		t.Fatalf("%+v", r.Counts)
	}
	for _, format := range Formats {
		for _, only := range []bool{true, false} {
			r.question.OverlapsOnly = only
			var b strings.Builder
			if err := r.Print(&b, Style{Format: format, Labels: "both"}); err != nil || strings.Contains(b.String(), "s3cret") {
				t.Errorf("%s: %v\n%s", format, err, &b)
			}
			if !strings.Contains(b.String(), "module=http") {
				t.Errorf("%s hides too much:\n%s", format, &b)
			}
		}
	}
	if got := redact.URL("http://user:pass@host/x?a=b&token=c"); got != "http://host/x?a=<hidden>&token=<hidden>" {
		t.Error(got)
	}
}

// No format shows credentials in URLs in labels, in values of relabel steps, or in sources.
func TestSecretsInLabelsAreHidden(t *testing.T) {
	job := "- {job_name: a, static_configs: [" +
		"{targets: ['https://s3cret:s3cret@site.example/path?plain=s3cret'], labels: {__param_target: 'https://s3cret:s3cret@site.example/?x=s3cret', site: 'https://s3cret:s3cret@site.example/?x=s3cret'}}, " +
		"{targets: ['https://s3cret:s3cret@dropped.example/?x=s3cret'], labels: {again: 'https://s3cret:s3cret@dropped.example/'}}], relabel_configs: [" +
		"{source_labels: [__param_token], regex: 's3cret.+', action: drop}, " +
		"{source_labels: [__address__, again], target_label: __tmp_both, action: replace}, " +
		"{source_labels: [__address__], target_label: site, action: replace}, " +
		"{source_labels: [__address__], regex: 'https://s3cret:s3cret@dropped.*', action: %s}, " +
		"{target_label: __address__, replacement: prober.example, action: replace}]}"
	tokens := "- {job_name: b, params: {token: [s3cret]}, static_configs: [{targets: [a]}], relabel_configs: [{source_labels: [__param_token], regex: 's3cret', action: drop}]}"
	equal := "- {job_name: c, static_configs: [{targets: ['https://s3cret:s3cret@a.example']}], relabel_configs: [{source_labels: [__address__], target_label: __address__, action: dropequal}]}"
	for _, action := range []string{"drop", "keep"} {
		r := ask(t, workload(t, 1, fmt.Sprintf(job, action), tokens, equal), pods{}, Query{Shard: AllShards, Overlaps: true})
		if r.Counts.dropped() != 3 || r.Counts.Kept != 1 {
			t.Fatalf("%+v", r.Counts)
		}
		for _, format := range Formats {
			var b strings.Builder
			if err := r.Print(&b, Style{Format: format, Labels: "both"}); err != nil || strings.Contains(b.String(), "s3cret") {
				t.Errorf("%s: %v\n%s", format, err, &b)
			}
			if !strings.Contains(b.String(), "site.example") {
				t.Errorf("%s hides too much:\n%s", format, &b)
			}
		}
	}
}

// A label cannot send control sequences to the terminal.
func TestLabelsAreQuoted(t *testing.T) {
	job := "- {job_name: a, relabel_configs: [{target_label: team, replacement: \"\\e[31mred\\n\", action: replace}, {source_labels: [team], regex: '(?s).*1.*', action: keep}]}"
	r := ask(t, workload(t, 1, job), pods{n: 1}, Query{Shard: AllShards})
	drop := strings.Replace(job, "'(?s).*1.*'", "none", 1)
	for _, r := range []Report{r, ask(t, workload(t, 1, drop), pods{n: 1}, Query{Shard: AllShards})} {
		for _, format := range []string{"text", "wide"} {
			var b strings.Builder
			if err := r.Print(&b, Style{Format: format, Labels: "both"}); err != nil || strings.Contains(b.String(), "\x1b") {
				t.Errorf("%v %q", err, b.String())
			}
		}
	}
}

// The labels of a target, of which a pod may have megabytes, are cut in a text.
func TestLongLabels(t *testing.T) {
	for _, style := range Labels {
		var out strings.Builder
		one := &Target{Target: targets.Target{Discovered: map[string]string{"a": strings.Repeat("x", 1<<20)}, Labels: map[string]string{"b": strings.Repeat("y", 1<<20)}}}
		text{Style: Style{Labels: style}}.labels(&out, []string{"target"}, one)
		if out.Len() > 2*maxLabels+100 || style != "none" && out.Len() < maxLabels {
			t.Errorf("%s: %d bytes", style, out.Len())
		}
	}
}

func TestSpread(t *testing.T) {
	for want, perShard := range map[string][]int{"": nil, "shard 0: 2, shard 1: 0": {2, 0}, "1 to 9 on each of 9 shards": {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		if got := spread(perShard); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// errClosed is the error of a closed writer.
var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestPrintFails(t *testing.T) {
	r := ask(t, workload(t, 1, everyPod), pods{n: 1}, Query{Shard: AllShards})
	for _, format := range Formats {
		if err := r.Print(closed{}, Style{Format: format}); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// The summary of masked jobs leaves out findings.
func TestSummaryOfHidden(t *testing.T) {
	j := Job{Counts: Counts{Kept: 1, Duplicate: 1, Unknown: 1}, Reasons: []Reason{{Count: 1, State: targets.Duplicate}, {Count: 1, State: targets.Unknown}}}
	if got, want := j.Summary(), "1 known target; 1 duplicate; unknown"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
