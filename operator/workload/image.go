package workload

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/distribution/reference"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// Image holds the settings from which a container's image is determined.
type Image struct {
	Field    string // of the user's settings: "spec" or "spec.thanos"
	Explicit string // takes precedence and is not validated
	Base     string // deprecated field of the user's object, a repository; a tag or digest in it is kept
	Default  string // repository without Base: "quay.io/prometheus/prometheus"
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
	base := cmp.Or(i.Base, i.Default)
	named, err := reference.ParseNormalizedNamed(base)
	if err != nil && i.Base != "" {
		return "", faults.At(i.Field+".baseImage", fmt.Errorf("%q: %w", base, err))
	}
	if err != nil {
		return "", fmt.Errorf("default image %q of the operator: %w", base, err)
	}
	switch {
	case !reference.IsNameOnly(named):
		return base, nil
	case strings.TrimSpace(i.SHA) != "":
		return base + "@sha256:" + i.SHA, nil
	case strings.TrimSpace(i.Tag) != "":
		tagged, err := reference.WithTag(named, i.Tag)
		if err != nil {
			return "", faults.At(i.Field+".tag", fmt.Errorf("%q: %w", i.Tag, err))
		}
		return tagged.String(), nil
	case i.Version == "":
		return "", faults.At(i.Field+".version", fmt.Errorf("is needed as the tag of image %q", base))
	}
	return base + ":" + i.Version, nil
}
