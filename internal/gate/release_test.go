package gate

import (
	"testing"

	"github.com/Masterminds/semver/v3"
)

func TestRelease(t *testing.T) {
	for in, want := range map[string]string{
		"3.14.0":                   "3.14.0",
		"3.14.0-distroless":        "3.14.0",
		"3.14.0-busybox.2":         "3.14.0",
		"3.14.0-rclone":            "3.14.0",
		"3.14.0-distroless+build5": "3.14.0",
		"3.0.0-rc.1":               "3.0.0-rc.1",
		"3.0.0-RC1":                "3.0.0-RC1",
		"3.0.0-beta-2":             "3.0.0-beta-2",
		"3.0.0-alpha":              "3.0.0-alpha",
		"3.0.0-0":                  "3.0.0-0",
		"3.0.0-20260101":           "3.0.0-20260101",
		"3.0.0-dev":                "3.0.0-dev",
	} {
		if got := Release(semver.MustParse(in)).String(); got != want {
			t.Errorf("%s is the release %s, want %s", in, got, want)
		}
	}
	for version, has := range map[string]bool{"2.49.0-distroless": true, "2.49.0-rc.1": false, "2.48.9-distroless": false} {
		if got := (Target{Version: semver.MustParse(version)}).AtLeast("2.49.0"); got != has {
			t.Errorf("%s has what came with 2.49.0: %t", version, got)
		}
	}
}
