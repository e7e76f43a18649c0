package amconfig

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Base is the source of the Alertmanager's own part.
type Base struct {
	// Config is the AlertmanagerConfig of spec.alertmanagerConfiguration.name. If the field is
	// not set, it is nil, and [CompileBase] reads the user's Secret.
	Config *v1alpha1.AlertmanagerConfig
	// AsIs means that the content of the user's Secret is used without parsing it, because no
	// AlertmanagerConfigs are selected.
	AsIs bool
}

// Frame is the part of a document that belongs to the Alertmanager.
type Frame struct {
	// Raw is the complete document if it is used as is. In that case, all other fields except
	// Extra and Deps are empty.
	Raw []byte
	// Head is the part before the routes of AlertmanagerConfigs: global settings and the root route.
	Head []byte
	// Items holds the base's own items of each section, indented as in the document. Routes
	// follow those of AlertmanagerConfigs, all other items precede them.
	Items map[Section][]byte
	// Tail is the part after the last section: time_intervals, templates, and unknown keys.
	Tail []byte
	// Extra holds the other keys of the user's Secret, which are copied next to the configuration.
	Extra map[string][]byte
	// Globals are the settings that receivers may omit.
	Globals Globals
	// Dropped lists keys that the version does not support.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps that the frame depends on, even on error.
	Deps []assets.Dependency
	// Files are TLS assets by file name.
	Files map[string][]byte
	// Warnings are about values that are not used as written.
	Warnings []faults.Finding
}

// CompileBase compiles the frame of an Alertmanager with the given version of the program.
//
// Errors fail the reconciliation. In that case, only Deps of the returned frame is usable.
func CompileBase(am *v1.Alertmanager, version *semver.Version, b Base, r assets.Reader) (Frame, error) {
	t := targetOf(version)
	if b.Config != nil {
		return compileConfigBase(am, t, b.Config, r)
	}
	scope := assets.NewScope(am.Namespace, r)
	f, err := compileSecretBase(am, t, b.AsIs, scope)
	f.Deps = scope.Dependencies()
	return f, err
}

// newFrame splits a document into its parts.
func newFrame(root *yaml.Node) (f Frame, err error) {
	f.Items = map[Section][]byte{}
	head := &yaml.Node{Kind: yaml.MappingNode}
	tail := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		switch section := Section(key.Value); section {
		case "global":
			if !isNull(value) {
				head.Content = slices.Insert(head.Content, 0, key, value)
			}
		case "route":
			if f.Items[Routes], err = itemsOf(get(value, string(Routes))); err != nil {
				return f, err
			}
			f.Items[Routes] = indent(f.Items[Routes])
			remove(value, string(Routes))
			head.Content = append(head.Content, key, value)
		case InhibitRules, Receivers, MuteIntervals:
			if f.Items[section], err = itemsOf(value); err != nil {
				return f, err
			}
		default:
			tail.Content = append(tail.Content, key, value)
		}
	}
	if indexOf(tail, templates) < 0 {
		tail.Content = append(tail.Content, scalar(templates), &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle})
	}
	if f.Head, err = encodeNode(head); err != nil {
		return f, err
	}
	f.Tail, err = encodeNode(tail)
	return f, err
}

// templates is a key that is always written, like in the reference implementation.
const templates = "templates"

// itemsOf encodes the items of a list; nil if it is empty.
func itemsOf(list *yaml.Node) ([]byte, error) {
	if list == nil || isEmpty(list) {
		return nil, nil
	}
	return encodeNode(list)
}
