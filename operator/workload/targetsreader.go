package workload

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

// targetsSince is the version of config-reloader with the flags --targets-.... Older ones, and those of the
// reference operator, would not start with them.
const targetsSince = "0.1.0"

// TargetsReader reports whether an image is known to receive targets from the discovery service: it is this
// project's config-reloader, or a mirror, and its tag is not that of a version before the flags existed. A tag that
// is no version counts as current.
func (c Config) TargetsReader(image string) bool {
	if !c.partsReader(image) {
		return false
	}
	named, err := lastImage.parse(image)
	if err != nil {
		return false
	}
	tagged, is := named.(reference.Tagged)
	if !is {
		return true
	}
	version, err := semver.NewVersion(tagged.Tag())
	if err != nil {
		return true
	}
	release, err := version.SetPrerelease("") // pre-releases have the flags
	return err != nil || !release.LessThan(semver.MustParse(targetsSince))
}

// TargetsFault returns why pods with these containers of the user could not receive targets, empty if they can.
func (c Config) TargetsFault(user []corev1.Container) string {
	for _, u := range user {
		if u.Name == ContainerConfigReloader && u.Image != "" && !c.TargetsReader(u.Image) {
			return fmt.Sprintf("image %q of container %s (spec.containers) is not known to receive targets", u.Image, ContainerConfigReloader)
		}
	}
	return ""
}
