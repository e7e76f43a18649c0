package promconfig

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// charset is a set of label names.
type charset int

const (
	// legacy names consist of letters, digits and "_", and begin with no digit.
	legacy charset = iota
	// legacyTemplate names are legacy ones with groups of the regex in them: "x_${1}".
	legacyTemplate
	// anyName is any UTF-8 text.
	anyName
)

var templates = regexp.MustCompile(`^(?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+$`)

func (c charset) valid(name string) bool {
	switch {
	case name == "":
		return false
	case c == anyName:
		return utf8.ValidString(name)
	case c == legacyTemplate:
		return templates.MatchString(name)
	}
	return isWord(name) && (name[0] < '0' || name[0] > '9')
}

// names says which label names a server takes in relabel steps.
type names struct {
	// plain is for names that are used as they are written.
	plain charset
	// template is for the target of replace with a "$" in it, and for what
	// labelmap makes.
	template charset
}

// namesSince lists the releases that changed this, newest first, for both schemes.
// Those of Thanos are the first that were built with the code. 3.7.0 was the first to look at the scheme, and did not know templates
// under Legacy; 3.7.2 does.
var namesSince = []struct {
	since        string
	utf8, legacy names
}{
	{"3.7.2,thanos=0.41.0", names{anyName, anyName}, names{legacy, legacyTemplate}},
	{"3.7.0,thanos=0.41.0", names{anyName, anyName}, names{legacy, legacy}},
	{"3.2.0,thanos=0.39.0", names{anyName, anyName}, names{anyName, anyName}},
	{"3.0.0,thanos=0.38.0", names{anyName, legacyTemplate}, names{anyName, legacyTemplate}},
}

// namesOf are the names of a version.
func namesOf(t gate.Target, scheme v1.NameValidationSchemeOptions) names {
	for _, row := range namesSince {
		if !t.AtLeast(row.since) {
			continue
		}
		if scheme == v1.LegacyNameValidationScheme {
			return row.legacy
		}
		return row.utf8
	}
	return names{legacy, legacyTemplate}
}

// validTarget reports whether an action may write to the label.
func (n names) validTarget(action, label string) bool {
	if action == "replace" && strings.Contains(label, "$") {
		return n.template.valid(label)
	}
	return n.plain.valid(label)
}
