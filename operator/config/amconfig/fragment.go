package amconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Section is a list of the document that AlertmanagerConfigs add to.
type Section string

// Sections, in the order of the document.
const (
	Routes        Section = "routes" // of the root route
	InhibitRules  Section = "inhibit_rules"
	Receivers     Section = "receivers"
	MuteIntervals Section = "mute_time_intervals"
)

// Fragment is a compiled AlertmanagerConfig. It is immutable.
type Fragment struct {
	// YAML holds its items in each section, indented as in the document; nil if it is rejected.
	YAML map[Section][]byte
	// Regexps is the compiled size of the regular expressions of its matchers, in the unit of [regexcost.Of], and
	// MatcherWork the sum of [regexcost.Work].
	Regexps, MatcherWork int
	// Dropped lists keys that the version does not support, by the path in the object
	// ("spec.receivers[0].slackConfigs[1].timeout").
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps that it depends on, even if it is rejected.
	Deps []assets.Dependency
	// Files are TLS assets by file name.
	Files map[string][]byte
	// Err is why it is rejected. If assets.IsTemporary(Err), the cluster could not be
	// read: do not cache the fragment and do not reject the object.
	Err error
}
