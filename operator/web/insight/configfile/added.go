package configfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
)

// addedSections are lists to which AlertmanagerConfigs append items without an owner.
var addedSections = []string{string(amconfig.InhibitRules), string(amconfig.MuteIntervals)}

// AddedItems counts the items that AlertmanagerConfigs append to sections of an Alertmanager's file.
// They are appended in the order of their names.
type AddedItems struct {
	base  catalog.Ref // the AlertmanagerConfig on which the file is based; empty for a Secret
	refs  []catalog.Ref
	items map[catalog.Ref]map[string]int // by section
}

// AddedTo counts the items in the compiled texts of AlertmanagerConfigs.
func AddedTo(am v1.Workload, became map[catalog.Ref]string) AddedItems {
	out := AddedItems{base: baseOf(am), items: map[catalog.Ref]map[string]int{}}
	key := func(r catalog.Ref) string { return r.Namespace + "/" + r.Name }
	out.refs = slices.SortedFunc(maps.Keys(became), func(a, b catalog.Ref) int { return cmp.Compare(key(a), key(b)) })
	for ref, text := range became {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
			continue
		}
		out.items[ref] = map[string]int{}
		for _, section := range addedSections {
			if list := manifest.ValueOf(doc.Content[0], section); list != nil {
				out.items[ref][section] = len(list.Content)
			}
		}
	}
	return out
}

// baseOf returns the AlertmanagerConfig on which the file of an Alertmanager is based, if any.
func baseOf(w v1.Workload) catalog.Ref {
	am, is := w.(*v1.Alertmanager)
	if !is || am.Spec.AlertmanagerConfiguration == nil || am.Spec.AlertmanagerConfiguration.Name == "" {
		return catalog.Ref{}
	}
	return catalog.Ref{Kind: catalog.AlertmanagerConfig.Kind, Namespace: am.Namespace, Name: am.Spec.AlertmanagerConfiguration.Name}
}

// Owners returns the owner of each of n items of a section, a.base for the Alertmanager's own
// items. It returns nil if the owners are ambiguous.
func (a AddedItems) Owners(section string, n int) []catalog.Ref {
	var out []catalog.Ref
	for _, ref := range a.refs {
		out = append(out, slices.Repeat([]catalog.Ref{ref}, a.items[ref][section])...)
	}
	if len(out) > n {
		return nil
	}
	return append(slices.Repeat([]catalog.Ref{a.base}, n-len(out)), out...)
}

// splitAdded splits a section by the owners of its items.
func (d *File) splitAdded(key, all *yaml.Node, a AddedItems) {
	owners := a.Owners(key.Value, len(all.Content))
	if owners == nil && len(all.Content) > 0 {
		d.Unread = append(d.Unread, key.Value+" is not shown: whose its items are is not known")
		return
	}
	for start := 0; start < len(owners); {
		of, end := owners[start], start
		for end < len(owners) && owners[end] == of {
			end++
		}
		items := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: all.Content[start:end]}
		s, node := Section{Name: key.Value, Object: of}, items
		if of == a.base {
			node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, items}}
		} else {
			s.Name = strings.Join([]string{key.Value, of.Namespace, of.Name}, "/")
		}
		var err error
		s.Text, err = redact.Encode(node)
		d.add(s, err)
		start = end
	}
}
