package routing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const ruleFile = `
groups:
- name: a
  labels: {team: ops, tier: gold}
  rules:
  - {record: 'a:b', expr: up, labels: {severity: none}}
  - {alert: Down, expr: up == 0, labels: {severity: critical, tier: silver, region: ''}}
  - {alert: Slow, expr: up, labels: {severity: '{{ $labels.s }}'}}
- name: b
  rules:
  - {alert: Down, expr: up, labels: {severity: warning}}
`

func TestAlert(t *testing.T) {
	own := func(workload, label, value string) RuleFile {
		return RuleFile{Workload: workload, Text: []byte(ruleFile), External: map[string]string{label: value, "region": "eu"}}
	}
	for name, tc := range map[string]struct {
		alert string
		files []RuleFile
		given Labels
		want  Labels
		notes string // part of them
	}{
		"labels of group, rule and workload": {"Down", []RuleFile{own("Prometheus a/b", "prometheus", "a/b")}, Labels{"severity": "critical"},
			Labels{"alertname": "Down", "severity": "critical", "team": "ops", "tier": "silver", "prometheus": "a/b"}, "are not known: add them"},
		"a template": {"Slow", []RuleFile{own("Prometheus a/b", "region", "eu")}, nil,
			Labels{"alertname": "Slow", "severity": "{{ $labels.s }}", "team": "ops", "tier": "gold", "region": "eu"}, "label severity is a template"},
		"a template that is filled": {"Slow", []RuleFile{own("Prometheus a/b", "region", "eu")}, Labels{"severity": "x", "pod": "p"},
			Labels{"alertname": "Slow", "severity": "x", "team": "ops", "tier": "gold", "region": "eu", "pod": "p"}, "not known"},
		"two workloads": {"Slow", []RuleFile{own("Prometheus a/b", "prometheus", "a/b"), own("Prometheus c/d", "prometheus", "c/d")}, Labels{"severity": "x"},
			Labels{"alertname": "Slow", "severity": "x", "team": "ops", "tier": "gold", "region": "eu"},
			`label prometheus is left out, because it differs: "a/b" in Prometheus a/b, "c/d" in Prometheus c/d`},
		"a variable": {"Slow", []RuleFile{own("Prometheus a/b", "zone", "$(ZONE)")}, Labels{"severity": "x"},
			Labels{"alertname": "Slow", "severity": "x", "team": "ops", "tier": "gold", "region": "eu", "zone": "$(ZONE)"}, "label zone has a variable"},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := alertLabels(tc.alert, tc.files, tc.given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if text := strings.Join(notes, "\n"); !strings.Contains(text, tc.notes) {
				t.Errorf("notes:\n%s\nwant %q", text, tc.notes)
			}
		})
	}
}

func TestAlertBadInput(t *testing.T) {
	for name, tc := range map[string]struct {
		text, alert string
		given       Labels
		want        string
	}{
		"no such alert":         {ruleFile, "Up", nil, `no alert "Up" in the PrometheusRule; it has Down, Slow`},
		"two rules":             {ruleFile, "Down", nil, `2 rules have the alert "Down", with different labels; add NAME=VALUE of the one you mean: {`},
		"no rule of the labels": {ruleFile, "Down", Labels{"severity": "info"}, `no alert "Down" has the labels {severity="info"}`},
		"no alerts":             {"groups: [{name: a, rules: [{record: 'a:b', expr: a}]}]", "Down", nil, "the PrometheusRule has no alerts"},
		"no groups":             {"{}", "Down", nil, "the PrometheusRule has no alerts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := alertLabels(tc.alert, []RuleFile{{Text: []byte(tc.text)}}, tc.given)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestExternal(t *testing.T) {
	empty, cluster := "", "cluster"
	prometheus := func(name *string, replica *string) *v1.Prometheus {
		p := &v1.Prometheus{}
		p.Namespace, p.Name = "a", "b"
		p.Spec.ExternalLabels = map[string]string{"region": "eu", "cluster": "x"}
		p.Spec.PrometheusExternalLabelName, p.Spec.ReplicaExternalLabelName = name, replica
		return p
	}
	ruler := &v1.ThanosRuler{Spec: v1.ThanosRulerSpec{Labels: map[string]string{"region": "eu", "replica": "$(POD_NAME)"}, AlertDropLabels: []string{"replica"}}}
	for name, tc := range map[string]struct {
		workload v1.Workload
		want     map[string]string
	}{
		"the Prometheus names itself": {prometheus(nil, nil), map[string]string{"region": "eu", "cluster": "x", "prometheus": "a/b"}},
		"under no label":              {prometheus(&empty, nil), map[string]string{"region": "eu", "cluster": "x"}},
		"under another label":         {prometheus(&cluster, nil), map[string]string{"region": "eu", "cluster": "a/b"}},
		"the replica is dropped":      {prometheus(&empty, &cluster), map[string]string{"region": "eu"}},
		"a ruler":                     {ruler, map[string]string{"region": "eu"}},
	} {
		got, _ := externalLabels(tc.workload)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
