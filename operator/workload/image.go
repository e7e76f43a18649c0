package workload

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// Image says where a container's image comes from.
type Image struct {
	Explicit string // wins over all others and is never checked
	Base     string // repository, "quay.io/prometheus/prometheus"; a tag or digest in it is kept
	Version  string // tag of last resort, used as it is written
	Tag      string // deprecated field of the owner; blank counts as unset
	SHA      string // deprecated field of the owner, hex digest without "sha256:"; beats Tag
}

// Path is the reference to put into the pod.
//
// Errors: the base image or the tag does not parse, or nothing says a version.
func (i Image) Path() (string, error) {
	if strings.TrimSpace(i.Explicit) != "" {
		return i.Explicit, nil
	}
	named, err := reference.ParseNormalizedNamed(i.Base)
	if err != nil {
		return "", fmt.Errorf("base image %q: %w", i.Base, err)
	}
	switch {
	case !reference.IsNameOnly(named):
		return i.Base, nil
	case strings.TrimSpace(i.SHA) != "":
		return i.Base + "@sha256:" + i.SHA, nil
	case strings.TrimSpace(i.Tag) != "":
		tagged, err := reference.WithTag(named, i.Tag)
		if err != nil {
			return "", fmt.Errorf("tag %q of base image %q: %w", i.Tag, i.Base, err)
		}
		return tagged.String(), nil
	case i.Version == "":
		return "", fmt.Errorf("base image %q: no version given", i.Base)
	}
	return i.Base + ":" + i.Version, nil
}
