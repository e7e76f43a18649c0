package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Name identifies the object in question.
type Name struct {
	row             *catalog.Row
	Namespace, Name string
}

// IsWorkload reports whether the object is a workload rather than an object that workloads select.
func (n Name) IsWorkload() bool { return n.row.IsWorkload() }

// ParseName parses a kind that workloads select, in any form that kubectl accepts
// ("servicemonitor", "smon", "servicemonitors.monitoring.coreos.com"), and NAMESPACE/NAME.
//
// Errors: the kind or the name is invalid.
func ParseName(kinds []*engine.Kind, kind, name string) (Name, error) {
	return parseName(manifests.Selectable(kinds), kind, name)
}

// ParseAnyName is like [ParseName] but also accepts the kinds of workloads.
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
		var known, names []string
		for _, r := range rows {
			name := strings.ToLower(r.Kind)
			known, names = append(known, fmt.Sprintf("%s (%s)", name, r.Short)), append(names, name, r.Short)
		}
		if meant := manifest.Similar(kind, names); meant != "" {
			return Name{}, fmt.Errorf("%q is not a kind that can be explained, did you mean %q?", kind, meant)
		}
		return Name{}, fmt.Errorf("%q is not a kind that can be explained: known are %s", kind, strings.Join(known, ", "))
	}
	key, err := catalog.Key(name, "")
	if err != nil {
		return Name{}, fmt.Errorf("%q: %w", name, err)
	}
	return Name{row, key.Namespace, key.Name}, nil
}

// Kinds returns the kinds of setups.
func Kinds(setups []engine.Setup) []*engine.Kind {
	var out []*engine.Kind
	for _, s := range setups {
		out = append(out, s.Kind)
	}
	return out
}

// String returns kind and name, "ServiceMonitor demo/web".
func (n Name) ref() catalog.Ref {
	return catalog.Ref{Kind: n.row.Kind, Namespace: n.Namespace, Name: n.Name}
}

func (n Name) String() string { return n.row.Kind + " " + n.Namespace + "/" + n.Name }
