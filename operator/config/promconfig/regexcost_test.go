package promconfig

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// steps returns relabel steps with a regular expression. Two of them exceed the budget.
func steps(n int) (out []v1.RelabelConfig) {
	for range n {
		out = append(out, v1.RelabelConfig{Action: "drop", SourceLabels: []v1.LabelName{"a"}, Regex: `\pL{300}`})
	}
	return out
}

// All expressions of a monitor share one budget, regardless of the field, and each monitor
// has a separate budget: a few kilobytes must not exhaust the memory of every Prometheus.
func TestRegexCostOfMonitors(t *testing.T) {
	s := settingsOf(t, `scrapeClasses: [{name: own}]`)
	for kind, compile := range map[string]func(first, second []v1.RelabelConfig) error{
		"ServiceMonitor": func(first, second []v1.RelabelConfig) error {
			m := &v1.ServiceMonitor{}
			m.Spec.Endpoints = []v1.Endpoint{{Port: "web", RelabelConfigs: first}, {Port: "web", MetricRelabelConfigs: second}}
			return CompileServiceMonitor(m, s, &assets.Static{}).Err
		},
		"PodMonitor": func(first, second []v1.RelabelConfig) error {
			m := &v1.PodMonitor{}
			m.Spec.PodMetricsEndpoints = []v1.PodMetricsEndpoint{{Port: "web", RelabelConfigs: first}, {Port: "web", MetricRelabelConfigs: second}}
			return CompilePodMonitor(m, s, &assets.Static{}).Err
		},
		"Probe": func(first, second []v1.RelabelConfig) error {
			m := &v1.Probe{}
			m.Spec.ProberSpec.URL, m.Spec.MetricRelabelConfigs = "prober", second
			m.Spec.Targets.StaticConfig = &v1.ProbeTargetStaticConfig{Static: []string{"a"}, RelabelConfigs: first}
			return CompileProbe(m, s, &assets.Static{}).Err
		},
		"ScrapeConfig": func(first, second []v1.RelabelConfig) error {
			m := &v1alpha1.ScrapeConfig{}
			m.Spec.RelabelConfigs, m.Spec.MetricRelabelConfigs = first, second
			return CompileScrapeConfig(m, s, &assets.Static{}).Err
		},
	} {
		for range 3 { // each starts with a full budget
			if err := compile(steps(1), nil); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		err := compile(steps(1), steps(1))
		if err == nil || !strings.HasSuffix(err.Error(), "[0].regex: "+regexcost.ErrExceeded.Error()) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A port is also a regular expression.
func TestRegexCostOfPorts(t *testing.T) {
	m := &v1.ServiceMonitor{}
	for range 2 {
		m.Spec.Endpoints = append(m.Spec.Endpoints, v1.Endpoint{Port: `\pL{300}`})
	}
	if err := CompileServiceMonitor(m, settingsOf(t, ``), &assets.Static{}).Err; err == nil || !strings.Contains(err.Error(), "endpoints[1].port: "+regexcost.ErrExceeded.Error()) {
		t.Error(err)
	}
}

// Each field of the Prometheus itself has a separate budget.
func TestRegexCostOfOwners(t *testing.T) {
	const step = `[{action: drop, sourceLabels: [a], regex: '\pL{300}'}]`
	for field, spec := range map[string]string{
		"spec.remoteWrite[1]":            `remoteWrite: [{url: "http://a", writeRelabelConfigs: %[1]s}, {url: "http://b", writeRelabelConfigs: %[1]s}]`,
		"spec.alerting.alertmanagers[1]": `alerting: {alertmanagers: [{name: a, namespace: a, port: web, relabelings: %[1]s}, {name: b, namespace: a, port: web, relabelings: %[1]s}]}`,
		`spec.scrapeClasses[0].metric`:   `scrapeClasses: [{name: a, relabelings: %[1]s, metricRelabelings: %[1]s}]`,
	} {
		p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
		if err := kyaml.UnmarshalStrict(fmt.Appendf(nil, spec, step), &p.Spec); err != nil {
			t.Fatal(err)
		}
		for range 2 { // earlier compilations do not count
			err := compileOwner(p, ownerObjects())
			if err == nil || !strings.HasPrefix(err.Error(), field) || !strings.Contains(err.Error(), regexcost.ErrExceeded.Error()) {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}
