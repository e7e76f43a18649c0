package promconfig

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func rulesAt(version string, scheme v1.NameValidationSchemeOptions) relabelRules {
	return rulesFor(gate.Target{Version: semver.MustParse(version), Mode: gate.Server}, scheme)
}

// A step whose target label is alone in the next item is probably one step.
func TestSplitStep(t *testing.T) {
	const split = "[0].targetLabel: replace needs one (is there a dash too many before the next step, which has it?)"
	for text, want := range map[string]string{
		`[{sourceLabels: [a]}, {targetLabel: b}]`:                              split,
		`[{sourceLabels: [a]}, {sourceLabels: [c], targetLabel: b}]`:           "[0].targetLabel: replace needs one",
		`[{sourceLabels: [a], regex: "("}, {targetLabel: b}]`:                  "[0].regex: ",
		`[{sourceLabels: [a]}]`:                                                "[0].targetLabel: replace needs one",
		`[{sourceLabels: [a], targetLabel: c}, {targetLabel: b}]`:              "",
		`[{action: hashmod, sourceLabels: [a], modulus: 2}, {targetLabel: b}]`: "[0].targetLabel: hashmod needs one",
	} {
		var steps []v1.RelabelConfig
		if err := kyaml.UnmarshalStrict([]byte(text), &steps); err != nil {
			t.Fatal(err)
		}
		err := rulesAt("3.0.0", "").check(steps)
		switch {
		case want == "" && err != nil, want != "" && err == nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (!strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "dash") != strings.Contains(want, "dash")):
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestRelabelRules(t *testing.T) {
	const target = `is not a valid label name for the version`
	for _, tc := range []struct {
		version, step, want string // want is "" if the step is valid
	}{
		{"3.0.0", `{}`, `targetLabel: replace needs one`},
		{"3.0.0", `{targetLabel: a}`, ``},
		{"3.0.0", `{targetLabel: a, action: Replace, replacement: ""}`, ``},
		{"2.55.0", `{targetLabel: label1.utf}`, `targetLabel: "label1.utf" ` + target + ": write label1_utf"},
		{"3.0.0", `{targetLabel: label1.utf}`, ``},
		{"3.0.0-rc.1", `{targetLabel: label1.utf}`, `targetLabel: "label1.utf" ` + target + ": write label1_utf"},
		{"2.55.0", `{targetLabel: "${1}"}`, ``},
		{"2.55.0", `{action: hashmod, modulus: 2, targetLabel: "${1}"}`, `targetLabel: "${1}" ` + target},
		{"3.0.0", `{targetLabel: "${1}"}`, ``},
		{"2.55.0", `{targetLabel: 1a}`, `targetLabel: "1a" ` + target + ": write _1a"},
		{"3.0.0", `{targetLabel: a, regex: "("}`, "regex: \"(\": error parsing regexp: missing closing ): `(`"},
		{"3.0.0", `{targetLabel: a, regex: "a)|(b"}`, ``},
		{"2.50.1", `{targetLabel: a, regex: "(?<n>b)"}`, `regex: "(?<n>b)": (?<name>…), unlike (?P<name>…), needs Prometheus >= 2.51.0`},
		{"2.51.0", `{targetLabel: a, regex: "(?<n>b)"}`, ``},
		{"3.6.0", `{action: labeldrop, regex: '\p{Letter}'}`, `regex: "\\p{Letter}": \p{…} with a name that is neither a script nor a short category needs Prometheus >= 3.7.0`},
		{"3.7.0", `{action: labeldrop, regex: '\p{Letter}'}`, ``},
		{"3.0.0", `{action: hashmod, targetLabel: a}`, `modulus: must not be 0 for hashmod`},
		{"3.0.0", `{action: HashMod, targetLabel: a, modulus: 2}`, ``},
		{"3.0.0", `{action: hashmod, modulus: 2}`, `targetLabel: hashmod needs one`},
		{"2.35.0", `{action: lowercase, targetLabel: a}`, `action: "lowercase" needs Prometheus >= 2.36.0`},
		{"2.36.0", `{action: Uppercase, targetLabel: a}`, ``},
		{"2.36.0", `{action: uppercase, targetLabel: a, replacement: x}`, `replacement: uppercase takes none`},
		{"2.36.0", `{action: uppercase, targetLabel: a, replacement: $1}`, ``},
		{"2.40.0", `{action: keepequal, targetLabel: a}`, `action: "keepequal" needs Prometheus >= 2.41.0`},
		{"2.41.0", `{action: keepequal, sourceLabels: [b], targetLabel: a, regex: (.*), separator: ;, replacement: $1}`, ``},
		{"2.41.0", `{action: KeepEqual, sourceLabels: [b], targetLabel: a, regex: x}`, `keepequal takes only sourceLabels and targetLabel: remove the other fields`},
		{"2.41.0", `{action: dropequal, sourceLabels: [b], targetLabel: a, modulus: 1}`, `dropequal takes only sourceLabels and targetLabel: remove the other fields`},
		{"2.41.0", `{action: dropequal, sourceLabels: [b], targetLabel: a, separator: ""}`, `dropequal takes only sourceLabels and targetLabel: remove the other fields`},
		{"2.41.0", `{action: dropequal, sourceLabels: [b]}`, `targetLabel: dropequal needs one`},
		{"2.36.0", `{action: labelmap, regex: a, replacement: "exported_${1}"}`, ``},
		{"2.36.0", `{action: labelmap, regex: a, replacement: k8s_$1}`, ``},
		{"2.36.0", `{action: labelmap, regex: a, replacement: some-name}`, `replacement: "some-name" does not make valid label names for the version`},
		{"3.1.0", `{action: labelmap, regex: a, replacement: some-name}`, `replacement: "some-name" does not make valid label names for the version`},
		{"3.2.0", `{action: labelmap, regex: a, replacement: some-name}`, ``},
		{"3.0.0", `{action: labelmap, regex: a, replacement: ""}`, `replacement: "" does not make valid label names for the version`},
		{"3.0.0", `{action: labelmap}`, ``},
		{"2.36.0", `{action: labeldrop, regex: (.*)}`, ``},
		{"2.36.0", `{action: labeldrop, regex: a, separator: ;, replacement: $1}`, ``},
		{"2.36.0", `{action: labeldrop, regex: a, sourceLabels: [x]}`, `labeldrop takes only a regex, which the names of labels are compared with: remove the other fields`},
		{"2.36.0", `{action: labelkeep, regex: a, targetLabel: x}`, `labelkeep takes only a regex, which the names of labels are compared with: remove the other fields`},
		{"2.36.0", `{action: labelkeep, regex: a, modulus: 1}`, `labelkeep takes only a regex, which the names of labels are compared with: remove the other fields`},
		{"2.36.0", `{action: LabelKeep, regex: a, separator: ""}`, `labelkeep takes only a regex, which the names of labels are compared with: remove the other fields`},
		{"2.36.0", `{action: labelkeep, regex: a, replacement: ""}`, `labelkeep takes only a regex, which the names of labels are compared with: remove the other fields`},
		{"2.36.0", `{action: keep, sourceLabels: ["any thing"], regex: a}`, `sourceLabels[0]: "any thing" is not a valid label name for the version: write any_thing`},
		{"3.0.0", `{action: keep, sourceLabels: ["any thing"], regex: a}`, ``},
		{"2.36.0", `{action: explode}`, `action: "explode" is not known`},
	} {
		var step v1.RelabelConfig
		if err := kyaml.UnmarshalStrict([]byte(tc.step), &step); err != nil {
			t.Fatalf("%s: %v", tc.step, err)
		}
		err := rulesAt(tc.version, "").check([]v1.RelabelConfig{{TargetLabel: "ok"}, step})
		got := ""
		if err != nil {
			got = err.Error()
		}
		want := tc.want
		if want != "" {
			want = "[1]." + want
			if strings.Contains(want, " takes only ") { // about the whole step
				want = "[1]: " + tc.want
			}
		}
		if got != want {
			t.Errorf("%s %s:\n got  %s\n want %s", tc.version, tc.step, got, want)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("app.kubernetes.io/name")
	f.Add("ümlaut-\xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := sanitize(s)
		if again := sanitize(once); again != once {
			t.Errorf("%q becomes %q, then %q", s, once, again)
		}
		if !isWord(once) {
			t.Errorf("%q becomes %q", s, once)
		}
	})
}
