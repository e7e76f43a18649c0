package promconfig

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Comparing user-supplied names for suggestions takes at most a few times their length.
func TestSuggestionsAreBounded(t *testing.T) {
	long, other := strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<20-1)+"b"
	p := &v1.Prometheus{}
	p.Spec.ScrapeClasses = []v1.ScrapeClass{{Name: other}, {Name: "b"}}
	s, err := ServerSettings(p, everything)
	if err != nil {
		t.Fatal(err)
	}
	m := &v1.ServiceMonitor{}
	m.Spec.ScrapeClass, m.Spec.Endpoints = long, make([]v1.Endpoint, 1)
	budgettest.AtMost(t, "scrape class", 16<<20, func() {
		if f := CompileServiceMonitor(m, s, &assets.Static{}); f.Err == nil {
			t.Error("no error")
		}
	})
	budgettest.AtMost(t, "key of an additional configuration", 1<<20, func() {
		if meant := jobItems.didYouMean(long); meant != "" {
			t.Error(meant)
		}
	})
}

// worst returns objects that cost as much as possible for their size: many elements, long
// texts, and values that are repeated for each endpoint. Each is at most 1.5 MB of JSON.
func worst() map[string]string {
	list := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	text := func(n int) string { return strings.Repeat("x", n) }
	entries := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":"",`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	const step = `{"targetLabel":"a"}`
	monitor := func(spec string) string { return "ServiceMonitor " + `{"spec":{"selector":{},` + spec + `}}` }
	pods := func(spec string) string { return "PodMonitor " + `{"spec":{"selector":{},` + spec + `}}` }
	probe := func(spec string) string { return "Probe " + `{"spec":{"prober":{"url":"a"},` + spec + `}}` }
	scrape := func(spec string) string { return "ScrapeConfig " + `{"spec":{` + spec + `}}` }
	all := map[string]string{
		"endpoints":               monitor(`"endpoints":` + list("{}", 70_000)),
		"as many as fit":          monitor(`"endpoints":` + list("{}", budget.Endpoints)),
		"wrong endpoints":         monitor(`"endpoints":` + list(`{"interval":"x"}`, budget.Endpoints)),
		"relabelings":             monitor(`"endpoints":[{"relabelings":` + list(step, 20_000) + `}]`),
		"relabelings everywhere":  monitor(`"endpoints":` + list(`{"relabelings":`+list(step, 8)+`}`, budget.Endpoints)),
		"metric relabelings":      monitor(`"endpoints":[{"metricRelabelings":` + list(step, 20_000) + `}]`),
		"shared labels":           monitor(`"podTargetLabels":` + list(`"a"`, 100_000) + `,"endpoints":` + list("{}", budget.Endpoints)),
		"shared text":             monitor(`"jobLabel":"` + text(500_000) + `","endpoints":` + list("{}", budget.Endpoints)),
		"shared namespaces":       monitor(`"namespaceSelector":{"matchNames":` + list(`"a"`, 300_000) + `},"endpoints":` + list("{}", budget.Endpoints)),
		"shared selector":         monitor(`"selector":{"matchExpressions":[{"key":"a","operator":"In","values":` + list(`"a"`, 300_000) + `}]},"endpoints":` + list("{}", budget.Endpoints)),
		"selector expressions":    monitor(`"selector":{"matchExpressions":` + list(`{"key":"a","operator":"Exists"}`, 40_000) + `},"endpoints":[{}]`),
		"selector labels":         monitor(`"selector":{"matchLabels":` + entries(100_000) + `},"endpoints":[{}]`),
		"protocols":               monitor(`"scrapeProtocols":` + list(`"a"`, 300_000) + `,"endpoints":` + list("{}", budget.Endpoints)),
		"parameters":              monitor(`"endpoints":[{"params":{"a":` + list(`""`, 400_000) + `}}]`),
		"names of parameters":     monitor(`"endpoints":[{"params":{` + strings.Trim(strings.ReplaceAll(entries(80_000), `""`, "[]"), "{}") + `}}]`),
		"long path":               monitor(`"endpoints":[{"path":"` + text(1_400_000) + `"}]`),
		"escaped path":            monitor(`"endpoints":[{"path":"` + strings.Repeat(`\u0007`, 230_000) + `"}]`),
		"lines":                   monitor(`"endpoints":[{"path":"` + strings.Repeat(`\n`, 700_000) + `"}]`),
		"long regex":              monitor(`"endpoints":[{"relabelings":[{"action":"drop","regex":"` + text(1_400_000) + `"}]}]`),
		"alternatives":            monitor(`"endpoints":[{"relabelings":[{"action":"drop","regex":"` + strings.Repeat("a|", 200_000) + `"}]}]`),
		"levels of a regex":       monitor(`"endpoints":[{"relabelings":[{"action":"drop","regex":"` + strings.Repeat("(", 900) + strings.Repeat(")", 900) + `"}]}]`),
		"regexes":                 monitor(`"endpoints":[{"relabelings":` + list(`{"action":"drop","regex":"a{999}"}`, 20_000) + `}]`),
		"source labels":           monitor(`"endpoints":[{"relabelings":[{"action":"drop","sourceLabels":` + list(`"a"`, 150_000) + `}]}]`),
		"TLS":                     monitor(`"endpoints":` + list(`{"tlsConfig":{"ca":{"secret":{"name":"s","key":"k"}}}}`, budget.Endpoints)),
		"variables":               monitor(`"endpoints":[{"relabelings":[{"targetLabel":"a","replacement":"` + strings.Repeat("$(A)", 350_000) + `"}]}]`),
		"many variables":          monitor(`"endpoints":[{"relabelings":` + list(`{"targetLabel":"a","replacement":"$(A)"}`, 20_000) + `}]`),
		"provided variables":      monitor(`"endpoints":[{"relabelings":[{"targetLabel":"a","replacement":"` + strings.Repeat("$(SHARD)", 180_000) + `"}]}]`),
		"variables in regexes":    monitor(`"endpoints":[{"relabelings":` + list(`{"action":"drop","regex":"[a]{9}$(SHARD)"}`, 20_000) + `}]`),
		"variables in keys":       monitor(`"endpoints":[{"params":{` + strings.Trim(strings.ReplaceAll(strings.ReplaceAll(entries(60_000), `""`, "[]"), `"k`, `"$(K)`), "{}") + `}}]`),
		"pods":                    pods(`"podMetricsEndpoints":` + list("{}", 70_000)),
		"as many pods as fit":     pods(`"podMetricsEndpoints":` + list("{}", budget.Endpoints)),
		"labels of pods":          pods(`"podTargetLabels":` + list(`"a"`, 100_000) + `,"podMetricsEndpoints":` + list("{}", budget.Endpoints)),
		"targets of a probe":      probe(`"targets":{"staticConfig":{"static":` + list(`"a"`, 350_000) + `}}`),
		"labels of a probe":       probe(`"targets":{"staticConfig":{"static":["a"],"labels":` + entries(100_000) + `}}`),
		"relabelings of a probe":  probe(`"targets":{"staticConfig":{"static":["a"],"relabelingConfigs":` + list(step, 20_000) + `}}`),
		"parameters of a probe":   probe(`"targets":{"staticConfig":{"static":["a"]}},"params":` + list(`{"name":"a"}`, 100_000)),
		"static targets":          scrape(`"staticConfigs":[{"targets":` + list(`"a"`, 350_000) + `}]`),
		"static configurations":   scrape(`"staticConfigs":` + list(`{"targets":["a"]}`, 80_000)),
		"empty configurations":    scrape(`"staticConfigs":` + list(`{}`, 400_000)),
		"relabelings of a scrape": scrape(`"relabelings":` + list(step, 20_000)),
		"Kubernetes":              scrape(`"kubernetesSDConfigs":` + list(`{"role":"Pod"}`, 90_000)),
		"Consul":                  scrape(`"consulSDConfigs":` + list(`{"server":"a"}`, 90_000)),
		"files":                   scrape(`"fileSDConfigs":[{"files":` + list(`"a"`, 300_000) + `}]`),
		"HTTP":                    scrape(`"httpSDConfigs":` + list(`{"url":"http://a"}`, 70_000)),
		"EC2":                     scrape(`"ec2SDConfigs":` + list(`{"region":"a"}`, 90_000)),
	}
	return all
}

// TestWorstObjects: the cost of one object is bounded, regardless of its content.
func TestWorstObjects(t *testing.T) {
	const (
		most     = 64 << 20 // bytes allocated, most of them garbage
		mostKept = 8 << 20
	)
	s := settingsOf(t, `{}`)
	for name, object := range worst() {
		kind, text, _ := strings.Cut(object, " ")
		if len(text) > budget.StoredBytes {
			t.Errorf("%s: no API server takes %d bytes", name, len(text))
		}
		compile := compilerOf(t, kind, text)
		checked := budget.Check(kind, []byte(text))
		f, allocated, kept := budgettest.Measure(func() Fragment { return compile(s) })
		if checked == nil && (allocated > most || kept > mostKept) {
			t.Errorf("%s: %d bytes, for which %d are allocated and %d are kept; %.100v", name, len(text), allocated, kept, f.Err)
		}
		runtime.KeepAlive(f)
	}
}

// compilerOf decodes an object and returns a function that compiles it.
func compilerOf(t *testing.T, kind, text string) func(*Settings) Fragment {
	decode := func(into any) {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	switch kind {
	case "ServiceMonitor":
		m := &v1.ServiceMonitor{}
		decode(m)
		return func(s *Settings) Fragment { return CompileServiceMonitor(m, s, &assets.Static{}) }
	case "PodMonitor":
		m := &v1.PodMonitor{}
		decode(m)
		return func(s *Settings) Fragment { return CompilePodMonitor(m, s, &assets.Static{}) }
	case "Probe":
		m := &v1.Probe{}
		decode(m)
		return func(s *Settings) Fragment { return CompileProbe(m, s, &assets.Static{}) }
	}
	m := &v1alpha1.ScrapeConfig{}
	decode(m)
	return func(s *Settings) Fragment { return CompileScrapeConfig(m, s, &assets.Static{}) }
}

// Prometheus watches each namespace of a selector on its own, up to three times: thousands of them in one small object exhaust
// its memory and the connections of the API server.
func TestManyNamespaces(t *testing.T) {
	s, err := ServerSettings(&v1.Prometheus{}, everything)
	if err != nil {
		t.Fatal(err)
	}
	own := &v1.Prometheus{}
	own.Spec.IgnoreNamespaceSelectors = true
	ignoring, err := ServerSettings(own, everything)
	if err != nil {
		t.Fatal(err)
	}
	names := func(n int) string { return "[" + strings.TrimSuffix(budgettest.Numbered(n, `"n%d",`), ",") + "]" }
	const most = budget.Namespaces
	discoveries := func(n, each int) string {
		return "[" + strings.TrimSuffix(budgettest.Numbered(n, `{"role":"Pod","selectors":[{"role":"Pod","label":"a=%d"}],"namespaces":{"names":`+names(each)+`}},`), ",") + "]"
	}
	for name, c := range map[string]struct {
		kind, fits, tooMany, want string
	}{
		"ServiceMonitor": {v1.ServiceMonitorKind, `{"spec":{"selector":{},"namespaceSelector":{"matchNames":` + names(most) + `},"endpoints":[{}]}}`,
			`{"spec":{"selector":{},"namespaceSelector":{"matchNames":` + names(most+1) + `},"endpoints":[{}]}}`, "spec.namespaceSelector.matchNames: has more than 1000 elements"},
		"PodMonitor": {v1.PodMonitorKind, `{"spec":{"selector":{},"namespaceSelector":{"any":true,"matchNames":` + names(most+1) + `},"podMetricsEndpoints":[{}]}}`,
			`{"spec":{"selector":{},"namespaceSelector":{"matchNames":` + names(most+1) + `},"podMetricsEndpoints":[{}]}}`, "spec.namespaceSelector.matchNames: has more than 1000 elements"},
		"Probe": {v1.ProbeKind, `{"spec":{"prober":{"url":"a"},"targets":{"ingress":{"namespaceSelector":{"matchNames":` + names(most) + `}}}}}`,
			`{"spec":{"prober":{"url":"a"},"targets":{"ingress":{"namespaceSelector":{"matchNames":` + names(most+1) + `}}}}}`, "spec.targets.ingress.namespaceSelector.matchNames: has more than 1000 elements"},
		"ScrapeConfig": {v1alpha1.ScrapeConfigKind, `{"spec":{"kubernetesSDConfigs":` + discoveries(budget.KubernetesDiscoveries, most/budget.KubernetesDiscoveries) + `}}`,
			`{"spec":{"kubernetesSDConfigs":` + discoveries(2, most/2+1) + `}}`, "spec.kubernetesSDConfigs[].namespaces.names: has more than 1000 elements"},
		"many discoveries": {v1alpha1.ScrapeConfigKind, `{"spec":{"kubernetesSDConfigs":` + discoveries(1, 1) + `}}`,
			`{"spec":{"kubernetesSDConfigs":` + discoveries(budget.KubernetesDiscoveries+1, 1) + `}}`, "spec.kubernetesSDConfigs: has more than 50 elements"},
	} {
		if f := compilerOf(t, c.kind, c.fits)(s); f.Err != nil {
			t.Errorf("%s: %v", name, f.Err)
		}
		if f := compilerOf(t, c.kind, c.tooMany)(s); f.Err == nil || !strings.HasPrefix(f.Err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, f.Err, c.want)
		}
		if f := compilerOf(t, c.kind, c.tooMany)(ignoring); c.kind != v1alpha1.ScrapeConfigKind && f.Err != nil {
			t.Errorf("%s, which are ignored: %v", name, f.Err)
		}
	}
}
