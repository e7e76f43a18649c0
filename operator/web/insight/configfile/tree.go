package configfile

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
)

// Limits for the file of an Alertmanager with its aliases expanded: the approximate size, and the
// part of it that each node costs besides its text.
const (
	maxTree  = 16 << 20
	nodeCost = 16
)

// SplitTree splits the file of an Alertmanager. objects are the compiled texts of
// AlertmanagerConfigs.
func (d *File) SplitTree(am v1.Workload, text string, objects map[catalog.Ref]string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		if strings.TrimSpace(text) != "" {
			d.Unread = append(d.Unread, "the configuration is not shown: it is not YAML of an Alertmanager")
		}
		return
	}
	budget := maxTree
	root := plain(doc.Content[0], &budget)
	if budget < 0 {
		d.Unread = append(d.Unread, "the configuration is not shown: it is too large when its aliases are followed")
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value == receiversSection && value.Kind == yaml.SequenceNode {
			d.splitReceivers(value, baseOf(am), objects)
			continue
		}
		if slices.Contains(addedSections, key.Value) && value.Kind == yaml.SequenceNode {
			d.splitAdded(key, value, AddedTo(am, objects))
			continue
		}
		text, err := redact.Encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, value}})
		d.add(Section{Name: key.Value, Text: text}, err)
	}
}

func (d *File) splitReceivers(all *yaml.Node, base catalog.Ref, objects map[catalog.Ref]string) {
	for _, item := range all.Content {
		s := Section{Name: receiversSection}
		if name := manifest.ValueOf(item, "name"); name != nil {
			s.Name += "/" + name.Value
			if ref, is := OwnerOf(name.Value); is && (ref == base || strings.Contains(objects[ref], name.Value)) {
				s.Object = ref
			}
		}
		var err error
		s.Text, err = redact.Encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{item}})
		d.add(s, err)
	}
}

func (d *File) add(s Section, err error) {
	if err != nil {
		d.Unread = append(d.Unread, s.Name+" is not shown: it cannot be written")
		return
	}
	d.Sections = append(d.Sections, s.Sized())
}

// plain returns a copy of a tree without comments and with aliases expanded. It reduces budget by
// the size of the copy. If budget is negative afterwards, the copy is incomplete.
func plain(n *yaml.Node, budget *int) *yaml.Node {
	if *budget -= nodeCost + len(n.Value); *budget < 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	if n.Kind == yaml.AliasNode {
		return plain(n.Alias, budget)
	}
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style}
	for _, c := range n.Content {
		out.Content = append(out.Content, plain(c, budget))
	}
	return out
}

// LineOrigins returns the origins of the relabel steps of a job, by line of its text.
func LineOrigins(text string, paths []string) map[int]string {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 || len(doc.Content[0].Content) == 0 {
		return nil
	}
	steps := manifest.ValueOf(doc.Content[0].Content[0], "relabel_configs")
	if steps == nil || len(steps.Content) != len(paths) {
		return nil
	}
	out := map[int]string{}
	for i, step := range steps.Content {
		out[step.Line] = paths[i]
	}
	return out
}
