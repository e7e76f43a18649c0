package rules

import "github.com/Masterminds/semver/v3"

// keySet is a set of gated keys of the rule file.
type keySet uint8

const (
	keyLimit keySet = 1 << iota
	keyKeepFiringFor
	keyQueryOffset
	keyGroupLabels
)

// since is a pair of minimum versions. A release candidate is lower than its release.
type since struct{ prometheus, thanos *semver.Version }

// gates holds the first versions of keys. A new key needs a row here, a bit above, a
// field in render.go and a golden file.
var gates = [...]struct {
	key keySet
	since
}{
	{keyLimit, at("2.31.0", "0.24.0")},
	{keyKeepFiringFor, at("2.42.0", "0.34.0")},
	{keyQueryOffset, at("2.53.0", "0.38.0")},
	{keyGroupLabels, at("3.0.0", "0.39.0")},
}

var (
	utf8Since = at("3.0.0", "0.38.0")

	// thanosFeaturesSince is the first version of which rulers are started with --enable-feature.
	thanosFeaturesSince = semver.MustParse("0.39.0")
)

func at(prometheus, thanos string) since {
	return since{semver.MustParse(prometheus), semver.MustParse(thanos)}
}

func (s since) of(thanos bool) *semver.Version {
	if thanos {
		return s.thanos
	}
	return s.prometheus
}

// unknownTo returns the keys that version v does not support.
func unknownTo(v *semver.Version, thanos bool) keySet {
	var out keySet
	for _, g := range gates {
		if v.LessThan(g.of(thanos)) {
			out |= g.key
		}
	}
	return out
}

// need returns the version that supports a dropped key.
func need(key keySet, thanos bool) string {
	for _, g := range gates {
		if g.key == key {
			return g.of(thanos).String()
		}
	}
	panic("rules: key without a gate") // every key passed here has a row above
}
