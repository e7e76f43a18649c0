package thanosruler

import (
	"slices"
	"strings"
	"testing"
)

// A replace step of remote write that crashes the version causes a warning.
func TestWarnings(t *testing.T) {
	const at = "spec.remoteWrite[0].writeRelabelConfigs[0]"
	for _, tc := range []struct {
		version, step string
		warns         bool
	}{
		{"v0.42.4", `{sourceLabels: [a], targetLabel: b}`, true},
		{"v0.41.0", `{action: Replace, targetLabel: b, regex: x, replacement: c}`, true},
		{"v0.42.4", `{targetLabel: b}`, true},
		{"v0.42.4", `{targetLabel: b, replacement: $1}`, true},
		{"", `{sourceLabels: [a], targetLabel: b, replacement: c}`, true},
		{"v0.40.1", `{sourceLabels: [a], targetLabel: b}`, false},
		{"v0.42.4", `{action: replace, targetLabel: b, replacement: c}`, false},
		{"v0.42.4", `{targetLabel: b, replacement: ""}`, false},
		{"v0.42.4", `{action: drop, sourceLabels: [a], regex: x}`, false},
		{"v0.42.4", `{action: lowercase, sourceLabels: [a], targetLabel: b}`, false},
	} {
		spec := `{version: "` + tc.version + `", remoteWrite: [{url: "http://a", writeRelabelConfigs: [` + tc.step + `]}]}`
		got := newBuilder(ruler(t, spec), testConfig()).Warnings()
		if tc.warns != (len(got) == 1) || !tc.warns && len(got) > 0 || tc.warns && !strings.HasPrefix(got[0], at+": Thanos ") {
			t.Errorf("%s %s: %q", tc.version, tc.step, got)
		}
	}
	const steps = `{url: "http://a", writeRelabelConfigs: [{action: keep, regex: a}, {targetLabel: a}]}`
	got := newBuilder(ruler(t, `{remoteWrite: [`+steps+`, `+steps+`]}`), testConfig()).Warnings()
	if len(got) != 2 || !slices.IsSorted(got) || !strings.HasPrefix(got[1], "spec.remoteWrite[1].writeRelabelConfigs[1]: ") {
		t.Errorf("two entries: %q", got)
	}
}
