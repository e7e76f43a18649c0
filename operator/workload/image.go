package workload

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// Image holds the settings from which a container's image is determined.
type Image struct {
	Explicit string // takes precedence and is not validated
	Base     string // repository: "quay.io/prometheus/prometheus"; a tag or digest in it is kept
	Version  string // fallback tag, used unchanged
	Tag      string // deprecated field of the user's object; blank means unset
	SHA      string // deprecated field of the user's object, hex digest without "sha256:"; overrides Tag
}

// Path returns the image reference for the pod.
//
// Errors: an invalid base image or tag; no version is set.
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
