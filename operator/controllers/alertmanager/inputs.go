package alertmanager

import (
	"io"
	"iter"
	"maps"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// inputs are the inputs of one reconciliation of an Alertmanager.
type inputs struct {
	am *v1.Alertmanager
	*builder
	// base is the Alertmanager's own part of the configuration. If baseErr is set, it has
	// only the dependencies.
	base    amconfig.Frame
	baseErr error
	// configs are the selected and compiled AlertmanagerConfigs, sorted by namespace and
	// name.
	configs []config
	// mounted are the user's files in the pods, such as notification templates.
	mounted engine.MountedFiles
	live    engine.Live
	costly  []share.LeftOut // AlertmanagerConfigs that cost the server too much

	document *configsecret.Documents
}

// config is a selected AlertmanagerConfig with its compiled content.
type config struct {
	object *v1alpha1.AlertmanagerConfig
	*compiledConfig
}

// compiledConfig is a fragment whose YAML has been converted to pieces of the document.
// It is shared and must not be modified.
type compiledConfig struct {
	amconfig.Fragment // without YAML
	// pieces are the pieces of the sections, nil for empty ones. Every reconciliation
	// iterates over them.
	pieces [len(sections)]*document.Piece
}

// Weight implements [fragments.Weighted]. The TLS files share memory with the cached
// Secrets.
func (c *compiledConfig) Weight() (bytes int, files map[string]int) {
	return fragments.WeightOf(c, c.Files)
}

// sections are the sections of the document, in its order.
var sections = [...]amconfig.Section{amconfig.Routes, amconfig.InhibitRules, amconfig.Receivers, amconfig.MuteIntervals}

// WriteTo writes the parts of the AlertmanagerConfig, each below the key of its section.
func (c *compiledConfig) WriteTo(w io.Writer) (int64, error) {
	var written int64
	for i, section := range sections {
		piece := c.pieces[i]
		if piece == nil {
			continue
		}
		n, err := io.WriteString(w, string(section)+":\n")
		written += int64(n)
		if err != nil {
			return written, err
		}
		m, err := piece.WriteTo(w)
		written += m
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// size returns the number of bytes that the AlertmanagerConfig adds to the configuration.
func (c *compiledConfig) size() (n int) {
	for _, piece := range c.pieces {
		if piece != nil {
			n += piece.Size()
		}
	}
	return n
}

// Results implements [engine.Inputs].
func (in *inputs) Results() iter.Seq[fragments.Result] {
	return func(yield func(fragments.Result) bool) {
		for _, c := range in.configs {
			if !yield(c.result()) {
				return
			}
		}
	}
}

func (c config) result() fragments.Result {
	out := fragments.Result{Kind: v1alpha1.AlertmanagerConfigKind, Object: c.object, Err: c.Err}
	if c.Err == nil {
		out.Text = c.compiledConfig
	}
	out.Dropped = c.Dropped
	return out
}

// References implements [engine.Inputs].
func (in *inputs) References() iter.Seq[assets.Ref] {
	deps := [][]assets.Dependency{in.base.Deps, in.mounted.Deps}
	for _, c := range in.configs {
		deps = append(deps, c.Deps)
	}
	return assets.Refs(deps...)
}

// tlsFiles returns the TLS files that the configuration refers to.
func (in *inputs) tlsFiles() map[string][]byte {
	files := maps.Clone(in.base.Files)
	if files == nil {
		files = map[string][]byte{}
	}
	for _, c := range in.configs {
		if c.Err == nil {
			maps.Copy(files, c.Files)
		}
	}
	return files
}
