package amconfig

import (
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/common/model"
)

func TestDurationsOfOneUnit(t *testing.T) {
	for _, tc := range []struct{ in, old, now string }{
		{"0s", "0s", "0s"},
		{"90s", "90s", "1m30s"},
		{"1h30m", "90m", "1h30m"},
		{"1d1ms", "86400001ms", "1d1ms"},
		{"7d", "1w", "1w"},
		{"60m", "1h", "1h"},
		{"1y1d", "366d", "366d"},
	} {
		d, err := model.ParseDuration(tc.in)
		if err != nil {
			t.Fatal(err)
		}
		for version, want := range map[string]string{"0.21.0": tc.old, "0.22.0": tc.now} {
			c := &compiler{target: targetOf(semver.MustParse(version))}
			if got := c.promDuration(d); got != want {
				t.Errorf("%s for %s is %q, want %q", tc.in, version, got, want)
			}
		}
	}
}
