package insight

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Sections of the file of an Alertmanager.
const (
	routeSection     = "route"
	receiversSection = "receivers"
)

// masker redacts credentials in a configuration in three independent ways: it is compiled with
// placeholders for values of Secrets, fields for credentials are redacted, and so is every scalar
// that contains a value of a Secret.
type masker struct {
	// file is the Secret that is the configuration file of an Alertmanager, if any. It is compiled
	// unchanged, and only what is known to be plain is shown of it.
	file assets.Ref
	// begins is the AlertmanagerConfig on which the file is based instead, if any.
	begins catalog.Ref
	values redact.Values
}

func newMasker(w v1.Workload) *masker {
	m := &masker{begins: baseOf(w)}
	if am, is := w.(*v1.Alertmanager); is && am.Spec.AlertmanagerConfiguration == nil {
		m.file = assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	}
	return m
}

// reading returns a reader with placeholders for values of Secrets.
func (m *masker) reading(r assets.Reader) assets.Reader {
	return m.values.Replace(r, func(ref assets.Ref, key string) bool { return ref == m.file && key == v1.AlertmanagerConfigKey })
}

// section returns the text of a section with credentials redacted. may reports whether the caller
// may get an AlertmanagerConfig.
//
// Errors: it is not YAML.
func (m *masker) section(s draftSection, may func(namespace, name string) bool) (string, error) {
	if s.text == "" || strings.HasPrefix(s.text, "# ") {
		return s.text, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(s.text), &doc); err != nil {
		return "", errors.New("not YAML") // the error may contain values
	}
	if len(doc.Content) == 0 {
		return "", nil
	}
	root, changed := doc.Content[0], false
	key, _, _ := strings.Cut(s.name, "/")
	tree := redact.Tree{Values: &m.values}
	switch {
	case key == receiversSection, key == "global":
		tree.Paths = redact.AllPaths
	case strings.HasPrefix(key, "remote_"):
		tree.Paths = redact.LongPaths
	case key == routeSection:
		changed = hideRoutes(child(root, routeSection), m.begins, may)
	}
	if m.file.Name != "" && s.object.Name == "" {
		changed = redact.Section(root, key) || changed
	}
	if !tree.Redact(root) && !changed {
		return s.text, nil
	}
	return redact.Encode(root)
}

// hideRoutes reduces the routes of AlertmanagerConfigs that the caller may not get to their
// receivers. Routes without an owner belong to base, unless it is empty. It reports whether there
// are any.
func hideRoutes(route *yaml.Node, base catalog.Ref, may func(namespace, name string) bool) (changed bool) {
	if route == nil {
		return false
	}
	hidesBase := base.Name != "" && !may(base.Namespace, base.Name)
	routes := child(route, "routes")
	if routes != nil {
		for _, r := range routes.Content {
			ref := base
			if receiver := child(r, "receiver"); receiver != nil {
				if other, is := ownedBy(receiver.Value); is {
					ref = other
				}
			}
			if ref == base && hidesBase || ref != base && !may(ref.Namespace, ref.Name) {
				changed = true
				only(r, "receiver")
			}
		}
	}
	if hidesBase {
		changed = true
		only(route, "receiver", "routes")
	}
	return changed
}

// only removes all other keys of a mapping.
func only(n *yaml.Node, keys ...string) {
	var left []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if slices.Contains(keys, n.Content[i].Value) {
			left = append(left, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = left
}

// ownedBy returns the AlertmanagerConfig of a receiver from its name: "namespace/name/own name".
func ownedBy(receiver string) (catalog.Ref, bool) {
	parts := strings.SplitN(receiver, "/", 3)
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" {
		return catalog.Ref{}, false
	}
	return catalog.Ref{Kind: catalog.AlertmanagerConfig.Kind, Namespace: parts[0], Name: parts[1]}, true
}

// Limits for the file of an Alertmanager with its aliases expanded: the approximate size, and the
// part of it that each node costs besides its text.
const (
	maxTree  = 16 << 20
	nodeCost = 16
)

// cutTree splits the file of an Alertmanager. objects are the compiled texts of
// AlertmanagerConfigs.
func (d *draft) cutTree(am v1.Workload, text string, objects map[catalog.Ref]string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		if strings.TrimSpace(text) != "" {
			d.unread = append(d.unread, "the configuration is not shown: it is not YAML of an Alertmanager")
		}
		return
	}
	budget := maxTree
	root := plain(doc.Content[0], &budget)
	if budget < 0 {
		d.unread = append(d.unread, "the configuration is not shown: it is too large when its aliases are followed")
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value == receiversSection && value.Kind == yaml.SequenceNode {
			d.cutReceivers(value, baseOf(am), objects)
			continue
		}
		if slices.Contains(addedSections, key.Value) && value.Kind == yaml.SequenceNode {
			d.cutAdded(key, value, addedTo(am, objects))
			continue
		}
		text, err := redact.Encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, value}})
		d.add(draftSection{name: key.Value, text: text}, err)
	}
}

func (d *draft) cutReceivers(all *yaml.Node, base catalog.Ref, objects map[catalog.Ref]string) {
	for _, item := range all.Content {
		s := draftSection{name: receiversSection}
		if name := child(item, "name"); name != nil {
			s.name += "/" + name.Value
			if ref, is := ownedBy(name.Value); is && (ref == base || strings.Contains(objects[ref], name.Value)) {
				s.object = ref
			}
		}
		var err error
		s.text, err = redact.Encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{item}})
		d.add(s, err)
	}
}

func (d *draft) add(s draftSection, err error) {
	if err != nil {
		d.unread = append(d.unread, s.name+" is not shown: it cannot be written")
		return
	}
	d.sections = append(d.sections, s.sized())
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

// lineOrigins returns the origins of the relabel steps of a job, by line of its text.
func lineOrigins(text string, paths []string) map[int]string {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 || len(doc.Content[0].Content) == 0 {
		return nil
	}
	steps := child(doc.Content[0].Content[0], "relabel_configs")
	if steps == nil || len(steps.Content) != len(paths) {
		return nil
	}
	out := map[int]string{}
	for i, step := range steps.Content {
		out[step.Line] = paths[i]
	}
	return out
}
