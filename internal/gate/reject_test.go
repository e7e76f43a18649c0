package gate

import (
	"testing"

	"github.com/Masterminds/semver/v3"
)

// notLost has keys that are rejected and one that is dropped.
type notLost struct {
	LeftOut string    `yaml:"left_out,omitempty" since:"2.99.0,alertmanager=0.99.0"`
	Old     string    `yaml:"old,omitempty" reject:"old"`
	List    []string  `yaml:"list,omitempty" since:"2.45.0,agent=2.50.0" reject:"theList"`
	Inner   *notLost  `yaml:"inner,omitempty" since:"alertmanager=0.28.0" reject:"inner"`
	Items   []notLost `yaml:"items,omitempty"`
}

// Rejects returns the first unsupported key that is set and has a reject tag.
func TestRejects(t *testing.T) {
	full := notLost{LeftOut: "x", Old: "x", List: []string{"x"}, Inner: &notLost{}, Items: []notLost{{List: []string{"x"}}}}
	for _, tc := range []struct {
		entry       notLost
		target      Target
		field, need string
	}{
		{full, Target{Version: semver.MustParse("2.44.0"), Mode: Server}, "theList", "Prometheus >= 2.45.0"},
		{full, Target{Version: semver.MustParse("2.45.0-rc.0"), Mode: Server}, "theList", "Prometheus >= 2.45.0"},
		{full, Target{Version: semver.MustParse("2.45.0"), Mode: Server}, "", ""},
		{full, Target{Version: semver.MustParse("2.45.0"), Mode: Agent}, "theList", "Prometheus >= 2.50.0"},
		{full, Target{Program: Alertmanager, Version: semver.MustParse("0.27.0")}, "inner", "Alertmanager >= 0.28.0"},
		{full, Target{Program: Alertmanager, Version: semver.MustParse("0.28.0")}, "", ""},
		{notLost{Items: full.Items}, Target{Version: semver.MustParse("2.44.0"), Mode: Server}, "", ""},
		{notLost{Inner: &full}, Target{Version: semver.MustParse("2.44.0"), Mode: Server}, "", ""},
	} {
		if field, need := Rejects(&tc.entry, tc.target); field != tc.field || need != tc.need {
			t.Errorf("%s %s %s: got %q %q, want %q %q", tc.target.Program, tc.target.Version, tc.target.Mode, field, need, tc.field, tc.need)
		}
	}
}
