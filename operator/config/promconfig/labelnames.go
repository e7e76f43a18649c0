package promconfig

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// charset is a set of label names.
type charset int

const (
	// legacy names consist of letters, digits and "_", and do not begin with a digit.
	legacy charset = iota
	// legacyTemplate names are legacy names that may contain references to regex groups: "x_${1}".
	legacyTemplate
	// anyName is any UTF-8 text.
	anyName
)

var templates = lazyregexp.New(`^(?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+$`)

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

// names describes which label names a server accepts in relabel steps.
type names struct {
	// plain applies to names that are used literally.
	plain charset
	// template applies to the target of replace if it contains "$", and to the result of labelmap.
	template charset
}

// namesSince lists the releases that changed the rules, newest first, for both schemes. The Thanos versions are
// the first that include the change. 3.7.0 was the first release that respects the scheme, and did not support
// templates in legacy names. 3.7.2 does.
var namesSince = []struct {
	since        string
	utf8, legacy names
}{
	{"3.7.2,thanos=0.41.0", names{anyName, anyName}, names{legacy, legacyTemplate}},
	{"3.7.0,thanos=0.41.0", names{anyName, anyName}, names{legacy, legacy}},
	{"3.2.0,thanos=0.39.0", names{anyName, anyName}, names{anyName, anyName}},
	{"3.0.0,thanos=0.38.0", names{anyName, legacyTemplate}, names{anyName, legacyTemplate}},
}

// namesOf returns the rules of a version.
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

// outsideLegacy matches characters that legacy names do not have.
var outsideLegacy = lazyregexp.New(`[^a-zA-Z0-9_]`)

// invalidName returns the error for a name that a version does not accept for a label, with a similar one that it accepts.
func invalidName(name string) error {
	meant := outsideLegacy.ReplaceAllString(name, "_")
	if meant != "" && meant[0] >= '0' && meant[0] <= '9' {
		meant = "_" + meant
	}
	if meant == name || meant == "" || strings.Contains(name, "$") {
		return fmt.Errorf("%q is not a valid label name for the version", name)
	}
	return fmt.Errorf("%q is not a valid label name for the version: write %s", name, meant)
}
