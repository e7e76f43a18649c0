package alertmanager

import (
	"io"
	"iter"
	"maps"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// inputs is everything that a reconciliation of an Alertmanager read.
type inputs struct {
	am    *v1.Alertmanager
	owner *Owner
	// base is the Alertmanager's own part of the configuration, with baseErr only what
	// it depends on.
	base    amconfig.Frame
	baseErr error
	// configs are the selected AlertmanagerConfigs, compiled, by namespace and name.
	configs []config
	// mounted are the files of the user in the pods, such as templates of notifications.
	mounted engine.Mounted
	live    engine.Live

	document *configsecret.Documents
}

// config is one selected AlertmanagerConfig and what it compiled to.
type config struct {
	object *v1alpha1.AlertmanagerConfig
	*compiledConfig
}

// compiledConfig is a fragment whose YAML has become pieces of the document. It is
// shared.
type compiledConfig struct {
	amconfig.Fragment // without YAML
	// pieces are those of the sections, nil where there is nothing. Every reconciliation
	// walks them.
	pieces [len(sections)]*document.Piece
}

// Weight implements compiled.Weighted: TLS files are those of the Secrets in the cache.
func (c *compiledConfig) Weight() (bytes int, files map[string]int) {
	return compiled.WeightOf(c, c.Files)
}

// sections are the lists of the document, in its order.
var sections = [...]amconfig.Section{amconfig.Routes, amconfig.InhibitRules, amconfig.Receivers, amconfig.MuteIntervals}

// WriteTo writes what the AlertmanagerConfig adds to each section, under its key.
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

// size is how many bytes it adds.
func (c *compiledConfig) size() (n int) {
	for _, piece := range c.pieces {
		if piece != nil {
			n += piece.Size()
		}
	}
	return n
}

// Verdicts implements engine.Inputs.
func (in *inputs) Verdicts() iter.Seq[compiled.Verdict] {
	return func(yield func(compiled.Verdict) bool) {
		for _, c := range in.configs {
			if !yield(c.verdict()) {
				return
			}
		}
	}
}

func (c config) verdict() compiled.Verdict {
	out := compiled.Verdict{Kind: v1alpha1.AlertmanagerConfigKind, Object: c.object, Err: c.Err}
	if c.Err == nil {
		out.Text = c.compiledConfig
	}
	for _, d := range c.Dropped {
		out.Dropped = append(out.Dropped, d.String())
	}
	return out
}

// References implements engine.Inputs.
func (in *inputs) References() iter.Seq[assets.Ref] {
	return func(yield func(assets.Ref) bool) {
		for _, deps := range in.dependencies() {
			for _, d := range deps {
				if !yield(d.Ref) {
					return
				}
			}
		}
	}
}

func (in *inputs) dependencies() [][]assets.Dependency {
	out := [][]assets.Dependency{in.base.Deps, in.mounted.Deps}
	for _, c := range in.configs {
		out = append(out, c.Deps)
	}
	return out
}

// tlsFiles are the TLS files that the configuration names.
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
