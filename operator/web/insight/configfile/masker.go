package configfile

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Sections of the file of an Alertmanager.
const (
	routeSection     = "route"
	receiversSection = "receivers"
)

// Masker redacts credentials in a configuration in three independent ways: it is compiled with
// placeholders for values of Secrets, fields for credentials are redacted, and so is every scalar
// that contains a value of a Secret.
type Masker struct {
	// file is the Secret that is the configuration file of an Alertmanager, if any. It is compiled unchanged, and only
	// the parts that cannot hold credentials are shown.
	file assets.Ref
	// begins is the AlertmanagerConfig on which the file is based instead, if any.
	begins catalog.Ref
	values redact.Values
}

// NewMasker returns a Masker for the configuration of a workload.
func NewMasker(w v1.Workload) *Masker {
	m := &Masker{begins: baseOf(w)}
	if am, is := w.(*v1.Alertmanager); is && am.Spec.AlertmanagerConfiguration == nil {
		m.file = assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.ConfigSecretName()}
	}
	return m
}

// InSecret reports whether the configuration is in a Secret of the user.
func (m *Masker) InSecret() bool { return m.file.Name != "" }

// Hide returns a reader with placeholders for values of Secrets.
func (m *Masker) Hide(r assets.Reader) assets.Reader {
	return m.values.Replace(r, func(ref assets.Ref, key string) bool { return ref == m.file && key == v1.AlertmanagerConfigKey })
}

// Redact returns the text of a section with credentials redacted. may reports whether the caller
// may get an AlertmanagerConfig.
//
// Errors: it is not YAML.
func (m *Masker) Redact(s Section, may func(namespace, name string) bool) (string, error) {
	if s.Text == "" || strings.HasPrefix(s.Text, "# ") {
		return s.Text, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(s.Text), &doc); err != nil {
		return "", errors.New("not YAML") // the error may contain values
	}
	if len(doc.Content) == 0 {
		return "", nil
	}
	root, changed := doc.Content[0], false
	key, _, _ := strings.Cut(s.Name, "/")
	tree := redact.Tree{Values: &m.values}
	switch {
	case key == receiversSection, key == "global":
		tree.Paths = redact.AllPaths
	case strings.HasPrefix(key, "remote_"):
		tree.Paths = redact.LongPaths
	case key == routeSection:
		changed = hideRoutes(manifest.ValueOf(root, routeSection), m.begins, may)
	}
	if m.InSecret() && s.Object.Name == "" {
		changed = redact.Section(root, key) || changed
	}
	if !tree.Redact(root) && !changed {
		return s.Text, nil
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
	if routes := manifest.ValueOf(route, "routes"); routes != nil {
		for _, r := range routes.Content {
			ref := ownerOfRoute(r, base)
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

// ownerOfRoute returns the AlertmanagerConfig of a route by its receiver, or base.
func ownerOfRoute(route *yaml.Node, base catalog.Ref) catalog.Ref {
	if receiver := manifest.ValueOf(route, "receiver"); receiver != nil {
		if other, is := OwnerOf(receiver.Value); is {
			return other
		}
	}
	return base
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

// OwnerOf returns the AlertmanagerConfig of a receiver from its name: "namespace/name/own name".
func OwnerOf(receiver string) (catalog.Ref, bool) {
	parts := strings.SplitN(receiver, "/", 3)
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" {
		return catalog.Ref{}, false
	}
	return catalog.Ref{Kind: catalog.AlertmanagerConfig.Kind, Namespace: parts[0], Name: parts[1]}, true
}
