package amconfig

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Base is what the Alertmanager's own part is made of.
type Base struct {
	// Config is the AlertmanagerConfig of spec.alertmanagerConfiguration.name; nil when
	// the field is not set: then it is the user's Secret, which [CompileBase] reads.
	Config *v1alpha1.AlertmanagerConfig
	// AsIs says that the content of the user's Secret is not to be looked at: nothing
	// selects AlertmanagerConfigs.
	AsIs bool
}

// Frame is the Alertmanager's own part of a document.
type Frame struct {
	// Raw is the whole document when it is used as it is; all else is then empty but
	// Extra and Deps.
	Raw []byte
	// Head comes before the routes of AlertmanagerConfigs: global settings and the root route.
	Head []byte
	// Items are the base's own of each section, indented as in the document. Those of
	// Routes come after those of AlertmanagerConfigs, all others before.
	Items map[Section][]byte
	// Tail comes after the last section: time_intervals, templates, and keys that we do
	// not know.
	Tail []byte
	// Extra are the other keys of the user's Secret, copied beside the configuration.
	Extra map[string][]byte
	// Globals are what receivers may leave out.
	Globals Globals
	// Dropped is what the version does not know.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps the frame depends on, also on error.
	Deps []assets.Dependency
	// Files are TLS assets by file name.
	Files map[string][]byte
	// Warnings are about values that are not used as written.
	Warnings []string
}

// CompileBase makes the frame of an Alertmanager whose program has this version.
//
// Errors fail the reconciliation; the frame then has Deps and nothing else of use.
func CompileBase(am *v1.Alertmanager, version *semver.Version, b Base, r assets.Reader) (Frame, error) {
	t := Target(version)
	if b.Config != nil {
		return compileConfigBase(am, t, b.Config, r)
	}
	scope := assets.NewScope(am.Namespace, r)
	f, err := compileSecretBase(am, t, b.AsIs, scope)
	f.Deps = scope.Dependencies()
	return f, err
}

// newFrame cuts a document into its parts.
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

// templates is a key that is always written, as in the reference.
const templates = "templates"

// itemsOf writes the items of a list; nothing for an empty one.
func itemsOf(list *yaml.Node) ([]byte, error) {
	if list == nil || isEmpty(list) {
		return nil, nil
	}
	return encodeNode(list)
}
