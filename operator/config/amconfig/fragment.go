package amconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Section is a list of the document to which AlertmanagerConfigs add.
type Section string

// Sections, in the order of the document.
const (
	Routes        Section = "routes" // of the root route
	InhibitRules  Section = "inhibit_rules"
	Receivers     Section = "receivers"
	MuteIntervals Section = "mute_time_intervals"
)

// Fragment is one AlertmanagerConfig compiled. It is immutable.
type Fragment struct {
	// YAML are the items that it adds to each section, indented as they stand in the
	// document; nil when it is rejected.
	YAML map[Section][]byte
	// Dropped is what the version does not know, by the path in the object
	// ("spec.receivers[0].slackConfigs[1].timeout").
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps it depends on, also when rejected.
	Deps []assets.Dependency
	// Files are TLS assets by file name.
	Files map[string][]byte
	// Err is why it is rejected. When assets.IsTemporary(Err) the cluster could not be
	// read: neither keep the fragment nor reject for it.
	Err error
}
