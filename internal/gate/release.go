package gate

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// preReleases are the lower-case prefixes of pre-release suffixes. Any other suffix means
// a variant of the release, such as the base of its image.
var preReleases = []string{"alpha", "beta", "rc", "pre", "dev", "snapshot", "nightly", "main", "master", "canary", "test"}

// Release returns the version that determines the features of v. For "3.14.0-distroless"
// that is 3.14.0. A pre-release such as 3.14.0-rc.1 may lack some of them and is returned
// unchanged.
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
