package gate

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// preReleases are the words that pre-releases begin with, in lower case. All other
// suffixes name a variant of the release, such as the base of its image.
var preReleases = []string{"alpha", "beta", "rc", "pre", "dev", "snapshot", "nightly", "main", "master", "canary", "test"}

// Release returns the version whose features v has: of "3.14.0-distroless" that is
// 3.14.0, while 3.14.0-rc.1 is returned as it is, and has not all of them.
func Release(v *semver.Version) *semver.Version {
	suffix := strings.ToLower(v.Prerelease())
	if suffix == "" || suffix[0] >= '0' && suffix[0] <= '9' {
		return v
	}
	for _, word := range preReleases {
		// "rc.1", "rc1" and "rc-1", but not "rclone"
		if rest, ok := strings.CutPrefix(suffix, word); ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return v
		}
	}
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
}
