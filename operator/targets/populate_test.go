package targets

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/scrape"
)

// FuzzPopulate compares labels, URL and validity of targets with those of the scrape package, which
// the operator does not link for its size.
func FuzzPopulate(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		c := r.settings(t)
		for range 20 {
			own, shared := r.target(), r.target()
			if r.IntN(4) > 0 {
				own[model.AddressLabel] = "10.0.0.1:80"
			}
			checkPopulate(t, c, own, shared)
		}
	})
}

// settings returns a job with random settings that become labels of its targets.
func (r random) settings(t *testing.T) *config.ScrapeConfig {
	t.Helper()
	steps := ""
	if r.IntN(2) == 0 {
		steps = r.step(0)
	}
	text := fmt.Sprintf(`scrape_configs: [{job_name: %q, scrape_interval: %s, scrape_timeout: 7s, metrics_path: %q, scheme: %s,
		always_scrape_classic_histograms: %t, params: {x: [%q, z], y: [], "": [q]}, relabel_configs: [%s]}]`,
		r.of("a", "b c"), r.of("7s", "1m", "15s"), r.of("/m", "/a b", "/"), r.of("http", "https"), r.IntN(2) == 0, r.of("", "1", "&"), steps)
	loaded, err := config.Load(text, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return loaded.ScrapeConfigs[0]
}

// target returns random labels that override settings or are invalid.
func (r random) target() model.LabelSet {
	out := model.LabelSet{}
	if r.IntN(8) == 0 {
		for i := range manyLabels {
			out[model.LabelName(fmt.Sprint(r.of("__meta_", "__tmp_", "a_"), i))] = model.LabelValue(r.of("", "a"))
		}
	}
	for range r.IntN(6) {
		name := r.of(model.AddressLabel, model.ScrapeIntervalLabel, model.ScrapeTimeoutLabel, model.MetricsPathLabel, model.SchemeLabel, model.InstanceLabel,
			model.JobLabel, convertHistogramsLabel, classicHistogramsLabel, nativeHistogramsLabel, "__meta_a", "__meta_", "__param_x", "__param_", "__param_new", "__tmp", "a")
		out[model.LabelName(name)] = model.LabelValue(r.of("", "a", "5s", "1h", "0s", "-1s", "true", "false", "x/y", "[::1]:80", "h:1", "\xff", "a?b=c&d"))
	}
	return out
}

func checkPopulate(t *testing.T, c *config.ScrapeConfig, own, shared model.LabelSet) {
	t.Helper()
	ours, theirs := labels.NewBuilder(labels.EmptyLabels()), labels.NewBuilder(labels.EmptyLabels())
	populate(ours, c, own, shared)
	scrape.PopulateDiscoveredLabels(theirs, c, own, shared)
	if diff := cmp.Diff(theirs.Labels().Map(), ours.Labels().Map()); diff != "" {
		t.Fatalf("discovered labels of %v, %v: (-Prometheus +ours)\n%s", own, shared, diff)
	}
	got, err := relabeled(ours, c, own, shared)
	want, wantErr := scrape.PopulateLabels(theirs, c, own, shared)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v, %v: error %v, by Prometheus %v", own, shared, err, wantErr)
	}
	if err != nil || want.IsEmpty() {
		return
	}
	if diff := cmp.Diff(want.Map(), got.Map()); diff != "" {
		t.Fatalf("labels of %v, %v: (-Prometheus +ours)\n%s", own, shared, diff)
	}
	if got, want := urlOf(got, c), scrape.NewTarget(want, c, nil, nil).URL().String(); got != want {
		t.Fatalf("URL %s, by Prometheus %s", got, want)
	}
}
