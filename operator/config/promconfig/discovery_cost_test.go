package promconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// A tenant stops the updates of all targets of the Prometheus of all: 60,000 static targets with 20,000 labels, in an object of
// 600 kB, occupied it for hours and would take 10 GB; 20,000 discoveries over HTTP kept it from loading its configuration;
// 60,000 names had it open 16,000 sockets at the same time.
func TestExpensiveDiscoveries(t *testing.T) {
	s, err := ServerSettings(&v1.Prometheus{}, everything)
	if err != nil {
		t.Fatal(err)
	}
	static := func(targets, labels int) string {
		return fmt.Sprintf(`{"targets":[%s],"labels":{%s}}`, trimmed(targets, `"t%d",`), trimmed(labels, `"a%d":"x",`))
	}
	scrape := func(field, list string) string { return fmt.Sprintf(`{"spec":{%q:[%s]}}`, field, list) }
	probe := func(targets, labels int) string {
		text := strings.Replace(static(targets, labels), `"targets"`, `"static"`, 1)
		return `{"spec":{"prober":{"url":"a"},"targets":{"staticConfig":` + text + `}}}`
	}
	const tooManyLabels, tooLarge = "labels: has more than 1000 elements, the limit of static targets", "the labels of all targets together have more than 67108864 bytes"
	for name, c := range map[string]struct{ kind, text, want string }{
		"many targets":             {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", static(budget.StaticTargets, 200)), ""},
		"many labels":              {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", static(1_000, budget.StaticLabels)), ""},
		"too many labels":          {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", static(1, budget.StaticLabels+1)), "spec.staticConfigs[0]." + tooManyLabels},
		"both":                     {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", static(budget.StaticTargets, 400)), "spec.staticConfigs[0].labels: " + tooLarge},
		"both, in several lists":   {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", static(5_000, 400)+","+static(5_000, 400)), "spec.staticConfigs: " + tooLarge},
		"targets of a Probe":       {v1.ProbeKind, probe(budget.StaticTargets, 200), ""},
		"labels of a Probe":        {v1.ProbeKind, probe(1, budget.StaticLabels+1), "spec.targets.staticConfig." + tooManyLabels},
		"both, of a Probe":         {v1.ProbeKind, probe(budget.StaticTargets, 400), "spec.targets.staticConfig.labels: " + tooLarge},
		"too many targets":         {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", `{"targets":["a"]},`+static(budget.StaticTargets, 0)), "spec.staticConfigs[].targets: has more than 10000 elements, the limit of one ScrapeConfig"},
		"too many of a Probe":      {v1.ProbeKind, probe(budget.StaticTargets+1, 0), "spec.targets.staticConfig.static: has more than 10000 elements, the limit of one Probe"},
		"discoveries":              {v1alpha1.ScrapeConfigKind, scrape("httpSDConfigs", trimmed(budget.Discoveries, `{"url":"http://a/%d"},`)), ""},
		"too many":                 {v1alpha1.ScrapeConfigKind, scrape("httpSDConfigs", trimmed(budget.Discoveries+1, `{"url":"http://a/%d"},`)), "spec: the service discoveries have more than 500 entries"},
		"too many, of two kinds":   {v1alpha1.ScrapeConfigKind, fmt.Sprintf(`{"spec":{"httpSDConfigs":[%s],"consulSDConfigs":[%s]}}`, trimmed(budget.Discoveries/2, `{"url":"http://a/%d"},`), trimmed(budget.Discoveries/2+1, `{"server":"a%d"},`)), "spec: the service discoveries have more than 500 entries"},
		"static ones do not count": {v1alpha1.ScrapeConfigKind, scrape("staticConfigs", trimmed(2*budget.Discoveries, `{"targets":["a%d"]},`)), ""},
		"names":                    {v1alpha1.ScrapeConfigKind, scrape("dnsSDConfigs", `{"names":[`+trimmed(budget.DNSNames, `"a%d",`)+`]}`), ""},
		"too many names":           {v1alpha1.ScrapeConfigKind, scrape("dnsSDConfigs", `{"names":["b"]},{"names":[`+trimmed(budget.DNSNames, `"a%d",`)+`]}`), "spec.dnsSDConfigs[].names: has more than 1000 elements"},
	} {
		if len(c.text) > budget.StoredBytes {
			t.Errorf("%s: no API server takes %d bytes", name, len(c.text))
		}
		got := ""
		if f := compilerOf(t, c.kind, c.text)(s); f.Err != nil {
			got = f.Err.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %.200s, want %q", name, got, c.want)
		}
	}
}

// trimmed is like [budgettest.Numbered], without the last comma.
func trimmed(n int, format string) string {
	return strings.TrimSuffix(budgettest.Numbered(n, format), ",")
}
