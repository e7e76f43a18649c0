package insight

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
)

// Sections of the file of an Alertmanager.
const (
	routeSection     = "route"
	receiversSection = "receivers"
)

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
	key, _, _ := strings.Cut(s.name, "/")
	w := walk{m: m, paths: key == receiversSection || key == "global", keys: strings.HasPrefix(key, "remote_")}
	root := doc.Content[0]
	if key == routeSection {
		hideRoutes(&w, child(root, routeSection), m.begins, may)
	}
	if m.base && s.object.Name == "" {
		w.keep(root, key, 0)
	}
	w.node(root, "", false)
	if !w.changed {
		return s.text, nil
	}
	return encode(root)
}

// encode encodes a tree.
func encode(n *yaml.Node) (string, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return "", err
	}
	return out.String(), nil
}

// plainKeys are the keys, by section, whose values are not credentials in an Alertmanager's own
// file. plainSections are sections without credentials. Matchers are also shown with routes.
var (
	plainSections = []string{"inhibit_rules", "time_intervals", "mute_time_intervals", "templates"}
	plainKeys     = map[string][]string{
		routeSection: {
			"receiver", "matchers", "match", "match_re", "group_by", "group_wait", "group_interval", "repeat_interval", "continue",
			"mute_time_intervals", "active_time_intervals",
		},
		receiversSection: {"send_resolved"},
		"global":         {"resolve_timeout", "smtp_require_tls"},
	}
)

// keep redacts an Alertmanager's own file except for the values of allowlisted keys.
func (w *walk) keep(n *yaml.Node, section string, depth int) {
	if slices.Contains(plainSections, section) {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			named := section == receiversSection && depth == 1 && name == "name"
			if !named && !slices.Contains(plainKeys[section], name) {
				w.keep(value, section, depth+1)
			}
		}
	case yaml.ScalarNode:
		if n.ShortTag() != "!!bool" && n.ShortTag() != "!!null" {
			hide(n, preview.Hidden)
			w.changed = true
		}
	default:
		for _, item := range n.Content {
			w.keep(item, section, depth+1)
		}
	}
}

// hideRoutes reduces the routes of AlertmanagerConfigs that the caller may not get to their
// receivers. Routes without an owner belong to base, unless it is empty.
func hideRoutes(w *walk, route *yaml.Node, base catalog.Ref, may func(namespace, name string) bool) {
	if route == nil {
		return
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
				w.only(r, "receiver")
			}
		}
	}
	if hidesBase {
		w.only(route, "receiver", "routes")
	}
}

// only removes all other keys of a mapping.
func (w *walk) only(n *yaml.Node, keys ...string) {
	var left []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if slices.Contains(keys, n.Content[i].Value) {
			left = append(left, n.Content[i], n.Content[i+1])
		}
	}
	n.Content, w.changed = left, true
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
		text, err := encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, value}})
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
		s.text, err = encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{item}})
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
