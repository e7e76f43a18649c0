package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/offline"
)

// Name is what is asked about.
type Name struct {
	row             *catalog.Row
	Namespace, Name string
}

// ParseName reads a kind that workloads select, as kubectl takes it ("servicemonitor",
// "smon", "servicemonitors.monitoring.coreos.com"), and NAMESPACE/NAME.
//
// Errors: neither is one.
func ParseName(kinds []*engine.Kind, kind, name string) (Name, error) {
	rows := offline.Selectable(kinds)
	row := catalog.Word(kind)
	if !slices.Contains(rows, row) {
		var known []string
		for _, r := range rows {
			known = append(known, fmt.Sprintf("%s (%s)", strings.ToLower(r.Kind), r.Short))
		}
		return Name{}, fmt.Errorf("%q is not a kind that can be explained: known are %s", kind, strings.Join(known, ", "))
	}
	key, err := catalog.Key(name, "")
	if err != nil {
		return Name{}, fmt.Errorf("%q: %w", name, err)
	}
	return Name{row, key.Namespace, key.Name}, nil
}

// Kinds are the kinds of setups.
func Kinds(setups []engine.Setup) []*engine.Kind {
	var out []*engine.Kind
	for _, s := range setups {
		out = append(out, s.Kind)
	}
	return out
}

// String is for people: "ServiceMonitor demo/web".
func (n Name) String() string { return n.row.Kind + " " + n.Namespace + "/" + n.Name }
