package lint

import (
	"strings"
	"testing"
)

// remarkCase is valid settings of a Prometheus, and objects that it selects, with a part of the expected
// remark; empty for none.
type remarkCase struct{ prometheus, object, want string }

func checkRemarks(t *testing.T, cases map[string]remarkCase) {
	t.Helper()
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			got := lines(t, selectsAll+tc.prometheus+tc.object)
			if tc.want == "" && !strings.Contains(got, "0 errors, 0 warnings, 0 notes") || tc.want != "" && (!strings.Contains(got, tc.want) || !strings.Contains(got, "0 errors, 1 warning, 0 notes")) {
				t.Errorf("want %q, got\n%s", tc.want, got)
			}
		})
	}
}

// Relabel steps with a probably unintended effect get a remark, similar ones without a problem get none.
func TestRelabelingRemarks(t *testing.T) {
	checkRemarks(t, map[string]remarkCase{
		"one that chooses":                {"", withEndpoints("  - {relabelings: [{targetLabel: __address__, sourceLabels: [a]}]}\n"), ""},
		"keep after keep":                 {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: foo_total}, {action: keep, " + ofName + ", regex: bar_total}"), "spec.endpoints[0].metricRelabelings[1]: keep after keep (spec.endpoints[0].metricRelabelings[0]) on __name__ with nothing in common drops every sample; write one step with regex: foo_total|bar_total"},
		"groups of words":                 {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: (a|b)}, {action: Keep, " + ofName + ", regex: c|d}"), "drops every sample"},
		"something in common":             {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: a|b}, {action: keep, " + ofName + ", regex: b|c}"), ""},
		"patterns with nothing in common": {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: node_(cpu|disk)_.*}, {action: keep, " + ofName + ", regex: 'node_mem.+'}"), "with nothing in common drops every sample; write one step with regex: node_(cpu|disk)_.*|node_mem.+"},
		"patterns that may meet":          {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: 'node_(cpu|disk)?_.*'}, {action: keep, " + ofName + ", regex: node__x}"), ""},
		"a pattern in any case":           {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: '(?i)a'}, {action: keep, " + ofName + ", regex: b}"), ""},
		"drop of what is kept":            {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: foo_a|foo_b}, {action: drop, " + ofName + ", regex: foo_.*}"), "metricRelabelings[1]: drop after keep (spec.endpoints[0].metricRelabelings[0]) on __name__ drops every sample"},
		"drop of some that are kept":      {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: foo_.*}, {action: drop, " + ofName + ", regex: foo_a.*}"), ""},
		"a group that is not there":       {"", withMetricRelabelings("{sourceLabels: [job], regex: (.+)-x, targetLabel: a, replacement: $1-$2}"), "metricRelabelings[0].replacement: $2 is always empty, because there is no group 2: the regex has 1 in parentheses"},
		"a group with more in its name":   {"", withMetricRelabelings("{sourceLabels: [job], targetLabel: a, replacement: $1_x}"), "$1_x is always empty, because there is no group 1_x: write ${1}_x"},
		"no group at all":                 {"", withMetricRelabelings("{sourceLabels: [job], regex: a, targetLabel: a, replacement: $1}"), "$1 is always empty, because there is no group 1: the regex has none in parentheses"},
		"groups":                          {"", withMetricRelabelings("{sourceLabels: [job], regex: '(?P<b>a)(c)', targetLabel: a, replacement: '$b-${2}:$1-$0$$x'}"), ""},
		"labelmap without a group":        {"", withRelabelings("{action: labelmap, regex: __meta_kubernetes_pod_label_.+}"), "relabelings[0].regex: has no group in parentheses, and replacement is $1 unless it is set, so that every label gets an empty name; put the part that stays into one, such as __meta_kubernetes_pod_label_(.+)"},
		"labelmap of one label":           {"", withRelabelings("{action: labelmap, regex: __meta_kubernetes_pod_name}"), "such as (__meta_kubernetes_pod_name)"},
		"labelmap to one label":           {"", withRelabelings("{action: labelmap, regex: __meta_kubernetes_pod_name, replacement: pod}"), ""},
		"labelmap with the default regex": {"", withRelabelings("{action: labelmap}"), ""},
		"no separator in the regex":       {"", withMetricRelabelings("{action: keep, sourceLabels: [__name__, namespace], regex: up}"), `metricRelabelings[0].regex: the values of the 2 source labels are joined with ";", and the regex matches nothing with it, so the step drops every sample`},
		"another separator":               {"", withMetricRelabelings("{action: drop, sourceLabels: [__name__, namespace], separator: '@', regex: 'up;a'}"), `joined with "@", and the regex matches nothing with it, so the step drops no sample`},
		"a separator in the regex":        {"", withMetricRelabelings("{action: keep, sourceLabels: [__name__, namespace], regex: 'up;[^a]'}"), ""},
		"a regex that may match it":       {"", withMetricRelabelings("{action: keep, sourceLabels: [__name__, namespace], regex: up\\W.*}"), ""},
		"a pattern":                       {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: a.*}, {action: keep, " + ofName + ", regex: ab}"), ""},
		"other labels":                    {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: a}, {action: keep, sourceLabels: [job], regex: b}"), ""},
		"a label that changes between":    {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: a}, {targetLabel: __name__, replacement: b}, {action: keep, " + ofName + ", regex: b}"), ""},
		"drop of everything":              {"", withRelabelings("{action: drop}"), "spec.endpoints[0].relabelings[0]: drop without sourceLabels looks at an empty value, so it drops every target"},
		"keep of nothing":                 {"", withRelabelings("{action: keep, regex: web}"), "keep without sourceLabels looks at an empty value"},
		"drop of nothing":                 {"", withMetricRelabelings("{action: drop, regex: go_.*}"), "spec.endpoints[0].metricRelabelings[0]: drop without sourceLabels looks at an empty value, so it drops no sample; set sourceLabels: [__name__] for names of metrics"},
		"keep of everything":              {"", withRelabelings("{action: keep}"), "keep without sourceLabels looks at an empty value, so it drops no target; set sourceLabels"},
		"drop without regex":              {"", withMetricRelabelings("{action: drop, " + ofName + "}"), "drop without regex, or with an empty one, which is the same, uses (.*) and drops every sample; set regex, for an empty value ^$"},
		"no address, by labeldrop":        {"", withRelabelings("{action: labeldrop, regex: __.*}"), "spec.endpoints[0].relabelings[0]: removes __address__ from every target"},
		"no address, by replace":          {"", withRelabelings("{targetLabel: __address__, replacement: ''}"), "removes __address__ from every target"},
		"an address for some":             {"", withRelabelings("{targetLabel: __address__, replacement: '', sourceLabels: [a], regex: b}"), ""},
		"labeldrop of others":             {"", withRelabelings("{action: labeldrop, regex: __meta_.*}"), ""},
		"TLS for some":                    {"", withEndpoints("  - {port: a, tlsConfig: {insecureSkipVerify: true}, relabelings: [{targetLabel: __scheme__, sourceLabels: [a]}]}\n"), ""},
		"slashes":                         {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: /foo_.*/}"), "metricRelabelings[0].regex: matches names of metrics that begin and end with a slash, of which there are none; write foo_.*"},
		"names before the scrape":         {"", withRelabelings("{action: drop, " + ofName + ", regex: a}"), "targets have no __name__, so the step drops no target; names of metrics are known after the scrape, in metricRelabelings"},
		"discovery after the scrape":      {"", withMetricRelabelings("{sourceLabels: [__meta_kubernetes_pod_name], targetLabel: pod}"), "labels __meta_… are gone after the scrape; use relabelings"},
		"labelkeep without the name":      {"", withMetricRelabelings("{action: labelkeep, regex: job|instance}"), "labelkeep takes the name of the metric (__name__) away from every sample, and then each scrape fails; keep it with regex: __name__|job|instance"},
		"labelkeep with the name":         {"", withMetricRelabelings("{action: labelkeep, regex: __name__|job|instance}"), ""},
		"labeldrop of everything":         {"", withMetricRelabelings("{action: labeldrop, regex: .*}"), "labeldrop takes the name of the metric"},
		"a target with a path that stays": {"", withStaticTarget("a:80/m") + "  relabelings: [{action: keep, sourceLabels: [__address__], regex: a.*}]\n", "write a:80, with spec.metricsPath: /m"},
		"one that relabeling corrects":    {"", withStaticTarget("a:80/m") + "  relabelings: [{sourceLabels: [__address__], regex: (.*)/m, targetLabel: __address__}]\n", ""},
		"a label that is overwritten":     {"  enforcedNamespaceLabel: namespace\n", withRelabelings("{targetLabel: namespace, replacement: all}"), `spec.endpoints[0].relabelings[0].targetLabel: namespace becomes "app" afterwards, because the workload sets spec.enforcedNamespaceLabel`},
		"a label of an exception":         {"  enforcedNamespaceLabel: namespace\n  excludedFromEnforcement: [{resource: servicemonitors, namespace: app}]\n", withRelabelings("{targetLabel: namespace, replacement: all}"), ""},
		"another label":                   {"  enforcedNamespaceLabel: namespace\n", withRelabelings("{targetLabel: team, replacement: all}"), ""},
		"a prefix of metrics":             {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: node_|up}"), "spec.endpoints[0].metricRelabelings[0].regex: a regex matches the whole name, and no metric is called node_: write node_.*"},
		"a prefix with the rest":          {"", withMetricRelabelings("{action: keep, " + ofName + ", regex: node_.*}"), ""},
		"a prefix of another label":       {"", withMetricRelabelings("{action: keep, sourceLabels: [pod], regex: node_}"), ""},
	})
}
