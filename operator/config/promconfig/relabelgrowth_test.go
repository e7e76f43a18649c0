package promconfig

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"k8s.io/utils/ptr"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// hostileSteps are lists of relabelings that make the labels of a target at least a thousand times as large; %d is a
// number that differs in each repetition.
var hostileSteps = map[string]struct {
	step  string
	times int
}{
	"a label is doubled":              {`{sourceLabels: [x], targetLabel: x, replacement: "$1$1"}`, 40},
	"twice by its name":               {`{sourceLabels: [x], targetLabel: x, regex: "(?P<a>.*)", replacement: "${a}-${a}"}`, 40},
	"nested groups":                   {`{sourceLabels: [x], targetLabel: x, regex: "((.*).)", replacement: "$1$2"}`, 40},
	"the whole match":                 {`{sourceLabels: [x], targetLabel: x, regex: "(.*)", replacement: "$0$1"}`, 40},
	"source labels":                   {`{sourceLabels: [x, x], targetLabel: x}`, 40},
	"two labels in turns":             {`{sourceLabels: [x, w], targetLabel: x}, {sourceLabels: [w, x], targetLabel: w}`, 40},
	"a tenfold separator":             {`{sourceLabels: [x, w], targetLabel: x, separator: "` + strings.Repeat("s", 60_000) + `"}, {sourceLabels: [x], targetLabel: x, replacement: "$1$1"}`, 8},
	"from nothing":                    {`{sourceLabels: [u], targetLabel: u, regex: "()|(.*)", replacement: "$1$2${2}` + strings.Repeat("s", 60_000) + `"}`, 8},
	"labels of all names":             {`{action: labelmap, regex: "(.*)", replacement: "y%d_$1"}`, 20},
	"names that are doubled":          {`{action: labelmap, regex: "(.*)", replacement: "a${1}a${1}"}`, 16},
	"labels with a prefix":            {`{action: LabelMap, regex: "x(.*)", replacement: "xy%d_$1"}`, 20},
	"a name from a value":             {`{sourceLabels: [x], targetLabel: "x${1}", replacement: "$1"}, {sourceLabels: [xa], targetLabel: "x$1", replacement: "$1$1"}, {action: labelmap, regex: "xa+", replacement: "xa"}`, 30},
	"a name that is read again":       {`{action: labelmap, regex: "x", replacement: w}, {sourceLabels: [w, w], targetLabel: x}`, 30},
	"repetitions of alternatives":     {`{sourceLabels: [x], targetLabel: x, regex: "(?:(a)|(a*))*", replacement: "$1$2$2"}`, 40},
	"many source labels":              {`{action: keep, sourceLabels: [` + strings.Repeat("x, ", 2_000) + `x], regex: y}`, 1},
	"many source labels of nothing":   {`{action: hashmod, sourceLabels: [` + strings.Repeat("x, ", 100) + `x], separator: "` + strings.Repeat("s", 60_000) + `", modulus: 2, targetLabel: w}`, 1},
	"many source labels, a constant":  {`{sourceLabels: [` + strings.Repeat("x, ", 2_000) + `x], targetLabel: w, replacement: y}`, 1},
	"words in a language of capitals": {`{action: uppercase, sourceLabels: [x, x], targetLabel: x}`, 40},
}

func repeated(step string, times int) string {
	var out []string
	for i := range times {
		out = append(out, strings.ReplaceAll(step, "%d", fmt.Sprint(i)))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func stepsOf(t *testing.T, text string) (out []v1.RelabelConfig) {
	t.Helper()
	if err := kyaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A few steps that exhaust the memory of any server are rejected, in each list of each kind.
func TestRelabelingsThatGrow(t *testing.T) {
	s := settingsOf(t, `scrapeClasses: [{name: own}]`)
	for name, tc := range hostileSteps {
		hostile := stepsOf(t, repeated(tc.step, tc.times))
		service, pods, probe, scrape := &v1.ServiceMonitor{}, &v1.PodMonitor{}, &v1.Probe{}, &v1alpha1.ScrapeConfig{}
		service.Spec.Endpoints = []v1.Endpoint{{Port: "web", RelabelConfigs: hostile}}
		pods.Spec.PodMetricsEndpoints = []v1.PodMetricsEndpoint{{Port: "web", MetricRelabelConfigs: hostile}}
		probe.Spec.ProberSpec.URL = "prober"
		probe.Spec.Targets.StaticConfig = &v1.ProbeTargetStaticConfig{Static: []string{"a"}, RelabelConfigs: hostile}
		scrape.Spec.RelabelConfigs = hostile
		for kind, err := range map[string]error{
			"ServiceMonitor": CompileServiceMonitor(service, s, &assets.Static{}).Err,
			"PodMonitor":     CompilePodMonitor(pods, s, &assets.Static{}).Err,
			"Probe":          CompileProbe(probe, s, &assets.Static{}).Err,
			"ScrapeConfig":   CompileScrapeConfig(scrape, s, &assets.Static{}).Err,
		} {
			if err == nil || !strings.Contains(err.Error(), "more than 1024 times as large") {
				t.Errorf("%s: %s: %v", name, kind, err)
			}
		}
	}
}

// Typical relabelings are accepted in any number.
func TestRelabelingsThatDoNotGrow(t *testing.T) {
	for name, tc := range map[string]struct {
		step  string
		times int
	}{
		"an address and a port":     {`{sourceLabels: [__address__, port], targetLabel: __address__, regex: "([^:]+)(?::\\d+)?;(\\d+)", replacement: "$1:$2"}`, 200},
		"parts of a label":          {`{sourceLabels: [x], targetLabel: x, regex: "(.+)-(.+)-(.+)", replacement: "$1/$2/$3"}`, 500},
		"many copies":               {`{sourceLabels: [__meta_kubernetes_pod_label_a%d], targetLabel: a%d}`, 900},
		"many joined labels":        {`{sourceLabels: [a, b, c], targetLabel: a%d}`, 300},
		"new names of labels":       {`{action: labelmap, regex: label_a%d, replacement: a%d}`, 900},
		"labels of a kind":          {`{action: labelmap, regex: "__meta_kubernetes_pod_label_(.+)"}, {sourceLabels: [a%d], targetLabel: b%d}`, 9},
		"labels of a kind, renamed": {`{action: labelmap, regex: "__meta_kubernetes_pod_label_(.+)", replacement: "k%d_$1"}`, 900},
		"labels of many kinds":      {`{action: labelmap, regex: "__meta_kubernetes_kind_%d_label_(.+)"}, {action: labelmap, regex: "__meta_kubernetes_kind_%d_annotation_(.+)"}`, 9},
		"removed labels":            {`{action: labeldrop, regex: "(.+)"}`, 5000},
		"hashes":                    {`{action: hashmod, sourceLabels: [a, b, c, d], modulus: 8, targetLabel: __tmp}, {action: keep, sourceLabels: [__tmp, __tmp], regex: "1"}`, 2000},
	} {
		if err := checkGrowth(stepsOf(t, repeated(tc.step, tc.times))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Steps that are accepted do not make more of labels than the limit, in Prometheus' own code.
func TestGrowthIsAnUpperBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	names := []string{"x", "xa", "xb", "w"}
	for range 3_000 {
		var steps []v1.RelabelConfig
		var real []*relabel.Config
		for range 1 + r.IntN(14) {
			c := v1.RelabelConfig{
				Action: one("replace", "replace", "labelmap"), Regex: one("(.*)", "(.)(.*)", "((a*)b?)*", "(?:(a+)|(x.*))", "x(.*)", "xa", "(x)(a)?(.*)", "a(.*)", "w(.+)", "(w.*)a", "xw(.*)"),
				Replacement: new(one("$1", "$1$1", "$1$2", "$2$1", "x$1", "${1}a$3", "xb", "$0$0")),
			}
			if c.Action == "replace" {
				for range 1 + r.IntN(3) {
					c.SourceLabels = append(c.SourceLabels, v1.LabelName(one(names...)))
				}
				c.Separator, c.TargetLabel = new(one("", "a", strings.Repeat("b", growthUnit/2))), one(append(names, "x$2", "$1")...)
			}
			if checkGrowth(append(steps, c)) != nil {
				continue
			}
			steps = append(steps, c)
			next := &relabel.Config{
				Action: relabel.Action(c.Action), Regex: relabel.MustNewRegexp(c.Regex), Replacement: *c.Replacement, TargetLabel: c.TargetLabel,
				Separator: ptr.Deref(c.Separator, ""), NameValidationScheme: model.UTF8Validation,
			}
			for _, name := range c.SourceLabels {
				next.SourceLabels = append(next.SourceLabels, model.LabelName(name))
			}
			real = append(real, next)
		}
		lb := labels.NewBuilder(labels.FromStrings("x", strings.Repeat("a", growthUnit/2), "xa", strings.Repeat("x", growthUnit/4), "w", strings.Repeat("ab", growthUnit/8)))
		before := sizeOf(lb.Labels())
		relabel.ProcessBuilder(lb, real...)
		if after := sizeOf(lb.Labels()); after > budget.LabelGrowth*before {
			t.Errorf("%d bytes become %d: %+v", before, after, steps)
		}
	}
}

func sizeOf(set labels.Labels) (n int) {
	set.Range(func(l labels.Label) { n += len(l.Name) + len(l.Value) })
	return n
}

// The work for a list is bounded: labels without a size are not kept, of which each labelmap would be compared with all.
func TestGrowthKeepsFewLabels(t *testing.T) {
	g := newGrowth()
	for _, c := range stepsOf(t, repeated(`{targetLabel: a%d, replacement: x}, {targetLabel: "b%d_$1", replacement: x}, {action: labelmap, regex: a%d, replacement: b}`, 6_000)) {
		g.add(&c)
	}
	if n := len(g.written) + len(g.made); n > budget.LabelGrowth || g.total > budget.LabelGrowth {
		t.Errorf("%d labels of size %d", n, g.total)
	}
}
