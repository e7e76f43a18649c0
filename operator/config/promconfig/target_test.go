package promconfig

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]string{
		"":               strings.TrimPrefix(wellknown.DefaultPrometheusVersion, "v"),
		"  ":             strings.TrimPrefix(wellknown.DefaultPrometheusVersion, "v"),
		"v2.45.0":        "2.45.0",
		" 2.45.0 ":       "2.45.0",
		"v2.45":          "2.45.0",
		"3":              "3.0.0",
		"v02.045.00":     "2.45.0",
		"3.0.0-rc.1":     "3.0.0-rc.1",
		"v3.0.0+build.7": "3.0.0+build.7",
	} {
		got, err := ParseVersion(in)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %v, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"latest", "main", "2.45-rc1", "v2.45+x", "vv2.45.0", "2..0", "2.45.0.1", "4.0.0", "1.8.0", "2.x", "-1", "v"} {
		if got, err := ParseVersion(in); err == nil {
			t.Errorf("%q: got %v, want an error", in, got)
		} else if !strings.Contains(err.Error(), "spec.version") {
			t.Errorf("%q: %v does not name the field", in, err)
		}
	}
}

func TestSupportedVersionsAreSorted(t *testing.T) {
	var parsed []*semver.Version
	for _, text := range supportedVersions {
		v, err := ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, v)
	}
	if !slices.IsSortedFunc(parsed, (*semver.Version).Compare) {
		t.Error("not oldest first")
	}
	if last := supportedVersions[len(supportedVersions)-1]; last != wellknown.DefaultPrometheusVersion {
		t.Errorf("the default %s is not the latest %s", wellknown.DefaultPrometheusVersion, last)
	}
}
