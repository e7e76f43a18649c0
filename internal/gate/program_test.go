package gate

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

// size is a value that gates itself, with a version per program.
type size string

func (s size) Since() string {
	if s == "huge" {
		return "3.0.0,alertmanager=0.28.0"
	}
	return ""
}

// shared is a block that all three programs read.
type shared struct {
	Prometheus string `yaml:"prometheus,omitempty" since:"2.40.0"`
	All        string `yaml:"all,omitempty" since:"2.35.0,alertmanager=0.25.0,thanos=0.31.0"`
	Agent      string `yaml:"agent,omitempty" since:"2.39.0,agent=2.54.0,thanos=0.38.0"`
	Never      string `yaml:"never,omitempty" since:"3.9.0,thanos=never"`
	Thanos     string `yaml:"thanos,omitempty" since:"thanos=0.38.0"`
	Gone       string `yaml:"gone,omitempty" until:"2.11.0,alertmanager=0.22.0"`
	Server     string `yaml:"server,omitempty" mode:"server"`
	Sizes      []size `yaml:"sizes,omitempty" empty:"drop"`
	Inner      inside `yaml:",inline" since:"thanos=0.30.0"`
}

type inside struct {
	Key string `yaml:"key,omitempty" since:"2.43.0,thanos=0.32.0"`
}

// Each target drops exactly the keys that it does not support.
func TestGatesOfEachProgram(t *testing.T) {
	full := shared{Prometheus: "x", All: "x", Agent: "x", Never: "x", Thanos: "x", Gone: "x", Server: "x",
		Sizes: []size{"huge"}, Inner: inside{"x"}}
	for _, tc := range []struct{ target, dropped string }{
		{" 3.9.0 server", "gone needs < 2.11.0"},
		{" 2.10.0 server", "prometheus needs >= 2.40.0, all needs >= 2.35.0, agent needs >= 2.39.0, never needs >= 3.9.0, sizes[0] needs >= 3.0.0, key needs >= 2.43.0"},
		{" 2.53.0 agent", "agent needs >= 2.54.0, never needs >= 3.9.0, gone needs < 2.11.0, server needs server mode, sizes[0] needs >= 3.0.0"},
		{"alertmanager 0.24.0 ", "all needs >= 0.25.0, gone needs < 0.22.0, sizes[0] needs >= 0.28.0"},
		{"alertmanager 0.21.0 ", "all needs >= 0.25.0, sizes[0] needs >= 0.28.0"},
		{"alertmanager 0.28.0 ", "gone needs < 0.22.0"},
		{"thanos 0.29.0 ", "all needs >= 0.31.0, agent needs >= 0.38.0, never needs another program, thanos needs >= 0.38.0, key needs >= 0.30.0"},
		{"thanos 0.31.0 ", "agent needs >= 0.38.0, never needs another program, thanos needs >= 0.38.0, key needs >= 0.32.0"},
		{"thanos 0.38.0 ", "never needs another program"},
	} {
		text := strings.Split(tc.target, " ")
		target := Target{Program: Program(text[0]), Version: semver.MustParse(text[1]), Mode: Mode(text[2])}
		_, dropped, err := Marshal(full, target)
		var got []string
		for _, d := range dropped {
			got = append(got, d.String())
		}
		if strings.Join(got, ", ") != tc.dropped || err != nil {
			t.Errorf("%s:\n got  %s %v\n want %s", tc.target, strings.Join(got, ", "), err, tc.dropped)
		}
	}
}

func TestAtLeastOfEachProgram(t *testing.T) {
	const since = "3.5.0,alertmanager=0.28.0,thanos=0.40.0"
	for _, tc := range []struct {
		program        Program
		version, since string
		want           bool
	}{
		{Prometheus, "3.5.0", since, true},
		{Prometheus, "3.4.9", since, false},
		{Thanos, "0.40.0", since, true},
		{Thanos, "0.39.2", since, false},
		{Alertmanager, "0.27.0", since, false},
		{Thanos, "0.10.0", "3.5.0", true},
		{Thanos, "99.0.0", "3.5.0,thanos=never", false},
		{Prometheus, "2.0.0", "thanos=0.40.0", true},
		{Prometheus, "2.0.0", "", true},
	} {
		if got := (Target{Program: tc.program, Version: semver.MustParse(tc.version)}).AtLeast(tc.since); got != tc.want {
			t.Errorf("%q %s, since %q: got %t", tc.program, tc.version, tc.since, got)
		}
	}
}

func TestNeedsNameTheProgram(t *testing.T) {
	const since = "3.5.0,alertmanager=0.28.0,thanos=never"
	for target, want := range map[Target]string{
		{Version: semver.MustParse("3.4.0")}:                         "Prometheus >= 3.5.0",
		{Version: semver.MustParse("3.5.0")}:                         "",
		{Program: Alertmanager, Version: semver.MustParse("0.27.0")}: "Alertmanager >= 0.28.0",
		{Program: Thanos, Version: semver.MustParse("9.0.0")}:        "another program than Thanos",
	} {
		if got := target.Needs(since); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// outer has gated keys at two depths.
type outer struct {
	Block []*shared `yaml:"block,omitempty" since:"2.30.0,thanos=0.28.0"`
}

func TestNeedOfAKeyBelow(t *testing.T) {
	for _, tc := range []struct{ path, version, want string }{
		{"block.all", "0.27.0", ">= 0.28.0"},
		{"block.all", "0.28.0", ">= 0.31.0"},
		{"block.key", "0.31.0", ">= 0.32.0"},
		{"block.never", "0.99.0", "another program"},
		{"block", "0.28.0", ""},
		{"block.all", "0.31.0", ""},
	} {
		if got := Need(reflect.TypeFor[outer](), tc.path, Target{Program: Thanos, Version: semver.MustParse(tc.version)}); got != tc.want {
			t.Errorf("%s at %s: got %q, want %q", tc.path, tc.version, got, tc.want)
		}
	}
}

func TestKeysOfEachProgram(t *testing.T) {
	for program, want := range map[Program]string{
		Prometheus:   "prometheus>=2.40.0 all>=2.35.0 agent>=2.39.0|2.54.0 never>=3.9.0 gone<2.11.0 server:server key>=2.43.0",
		Alertmanager: "all>=0.25.0 gone<0.22.0",
		Thanos:       "all>=0.31.0 agent>=0.38.0 never>=never thanos>=0.38.0 key>=0.32.0",
	} {
		keys, err := Keys(reflect.TypeFor[shared](), program)
		if err != nil {
			t.Fatal(err)
		}
		keys = slices.DeleteFunc(keys, func(k Key) bool { return k.Since+k.Until+string(k.Mode) == "" })
		var got []string
		for _, k := range keys {
			text := k.Name
			for _, part := range []struct{ mark, value string }{{">=", k.Since}, {"|", k.SinceAgent}, {"<", k.Until}, {":", string(k.Mode)}} {
				if part.value != "" {
					text += part.mark + part.value
				}
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q:\n got  %s\n want %s", program, strings.Join(got, " "), want)
		}
	}
}
