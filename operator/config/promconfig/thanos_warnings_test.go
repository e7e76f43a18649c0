package promconfig

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A replace step of remote write that crashes the version causes a warning.
func TestThanosWarnings(t *testing.T) {
	warnings := func(version, writes string) []string {
		var specs []v1.RemoteWriteSpec
		if err := yaml.Unmarshal([]byte(writes), &specs); err != nil {
			t.Fatal(err)
		}
		return faults.Texts(thanosWarnings(specs, gate.Target{Program: gate.Thanos, Version: semver.MustParse(version)}))
	}
	const at = "spec.remoteWrite[0].writeRelabelConfigs[0]"
	for _, tc := range []struct {
		version, step string
		warns         bool
	}{
		{"v0.42.4", `{sourceLabels: [a], targetLabel: b}`, true},
		{"v0.41.0", `{action: Replace, targetLabel: b, regex: x, replacement: c}`, true},
		{"v0.42.4", `{targetLabel: b}`, true},
		{"v0.42.4", `{targetLabel: b, replacement: $1}`, true},
		{"v0.41.0", `{sourceLabels: [a], targetLabel: b, replacement: c}`, true},
		{"v0.40.1", `{sourceLabels: [a], targetLabel: b}`, false},
		{"v0.42.4", `{action: replace, targetLabel: b, replacement: c}`, false},
		{"v0.42.4", `{targetLabel: b, replacement: ""}`, false},
		{"v0.42.4", `{action: drop, sourceLabels: [a], regex: x}`, false},
		{"v0.42.4", `{action: lowercase, sourceLabels: [a], targetLabel: b}`, false},
	} {
		got := warnings(tc.version, `[{url: "http://a", writeRelabelConfigs: [`+tc.step+`]}]`)
		if tc.warns != (len(got) == 1) || !tc.warns && len(got) > 0 || tc.warns && !strings.HasPrefix(got[0], at+": Thanos ") {
			t.Errorf("%s %s: %q", tc.version, tc.step, got)
		}
	}
	const steps = `{url: "http://a", writeRelabelConfigs: [{action: keep, regex: a}, {targetLabel: a}]}`
	got := warnings("v0.42.4", `[`+steps+`, `+steps+`]`)
	if len(got) != 2 || !slices.IsSorted(got) || !strings.HasPrefix(got[1], "spec.remoteWrite[1].writeRelabelConfigs[1]: ") {
		t.Errorf("two entries: %q", got)
	}
}
