package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Name is what is asked about.
type Name struct {
	row             *catalog.Row
	Namespace, Name string
}

// IsWorkload reports whether the object is a workload, and not what workloads select.
func (n Name) IsWorkload() bool { return n.row.IsWorkload() }

// ParseName reads a kind that workloads select, as kubectl takes it ("servicemonitor",
// "smon", "servicemonitors.monitoring.coreos.com"), and NAMESPACE/NAME.
//
// Errors: neither is one.
func ParseName(kinds []*engine.Kind, kind, name string) (Name, error) {
	return parseName(manifests.Selectable(kinds), kind, name)
}

// ParseAnyName is [ParseName] for the kinds of workloads too.
func ParseAnyName(kinds []*engine.Kind, kind, name string) (Name, error) {
	rows := slices.Clone(manifests.Selectable(kinds))
	for _, k := range kinds {
		rows = append(rows, k.Row)
	}
	return parseName(rows, kind, name)
}

func parseName(rows []*catalog.Row, kind, name string) (Name, error) {
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
