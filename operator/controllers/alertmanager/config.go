package alertmanager

import (
	"iter"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// writeConfig assembles the configuration and distributes it over its Secrets, along with
// the other keys of the user's Secret.
func (in *inputs) writeConfig() (configsecret.Output, error) {
	return in.document.Fit(in.Base, in.live, func() (configsecret.Content, error) {
		return configsecret.Content{
			Pieces: in.pieces(), Keys: in.base.Extra,
			Origin: configsecret.Origin{Objects: "AlertmanagerConfigs", Divide: divide, Each: in.sources()},
		}, nil
	})
}

// divide explains how to split the configuration into several smaller ones.
const divide = "let several Alertmanager objects select the AlertmanagerConfigs (by labels or namespaces)"

// pieces returns the pieces of the configuration, in order.
func (in *inputs) pieces() []*document.Piece {
	var out []*document.Piece
	shared := false // whether the previous pieces are shared with other Alertmanagers
	for _, part := range amconfig.Assemble(&in.base, in.items) {
		if items := part.Section != ""; items != shared {
			out, shared = append(out, document.Fence), items
		}
		if len(part.Text) > 0 {
			out = append(out, document.NewPiece(part.Name, part.Text))
		}
		out = append(out, part.Items...)
	}
	return out
}

// items returns the pieces of the accepted AlertmanagerConfigs for a section.
func (in *inputs) items(section amconfig.Section) []*document.Piece {
	i := slices.Index(sections[:], section)
	out := make([]*document.Piece, 0, len(in.configs))
	for _, c := range in.configs {
		if piece := c.pieces[i]; c.Err == nil && piece != nil {
			out = append(out, piece)
		}
	}
	return out
}

// sources returns the size of each AlertmanagerConfig in the configuration.
func (in *inputs) sources() iter.Seq[configsecret.Source] {
	return func(yield func(configsecret.Source) bool) {
		for i, c := range in.configs {
			if c.Err != nil {
				continue
			}
			if !yield(configsecret.Source{
				Kind: v1alpha1.AlertmanagerConfigKind, Namespace: c.object.Namespace, Name: c.object.Name, Bytes: c.size(),
				Pieces:   slices.DeleteFunc(slices.Clone(c.pieces[:]), func(p *document.Piece) bool { return p == nil }),
				LeaveOut: func(why error) { in.configs[i] = c.leftOut(why) },
			}) {
				return
			}
		}
	}
}

// leftOut returns the AlertmanagerConfig without its compiled content, and with the
// reason as its error.
func (c config) leftOut(why error) config {
	c.compiledConfig = &compiledConfig{Fragment: amconfig.Fragment{Err: why, Deps: c.Deps}}
	return c
}

// fitCosts rejects AlertmanagerConfigs until Alertmanager has memory for the regular expressions of the others, and time to
// compare each alert with them. Those of one namespace may be thousands, each within the limits of one object.
func (in *inputs) fitCosts() []share.LeftOut {
	left := in.fit(func(c *compiledConfig) int { return c.Regexps }, budget.ServerRegexps, "%d instructions of regular expressions in matchers, for which Alertmanager has memory")
	return append(left, in.fit(func(c *compiledConfig) int { return c.MatcherWork }, budget.ServerMatcherWork,
		"%d instructions of matchers for each character of a label, with which Alertmanager compares each alert")...)
}

func (in *inputs) fit(cost func(*compiledConfig) int, room budget.Room, full string) []share.LeftOut {
	total := 0
	for _, c := range in.configs {
		total += cost(c.compiledConfig)
	}
	return share.Fit(total, len(in.configs), room, full, func(yield func(share.Cost) bool) {
		for i, c := range in.configs {
			if !yield(share.Cost{
				Namespace: c.object.Namespace, Name: v1alpha1.AlertmanagerConfigKind + "/" + c.object.Name, Amount: cost(c.compiledConfig),
				LeaveOut: func(why error) { in.configs[i] = c.leftOut(why) },
			}) {
				return
			}
		}
	})
}

// fitFiles rejects AlertmanagerConfigs whose TLS files exceed the limit.
func (in *inputs) fitFiles() []share.LeftOut {
	return engine.FitTLSFiles(in.tlsFiles(), in.base.Files, func(yield func(engine.TLSFiles) bool) {
		for i, c := range in.configs {
			if c.Err == nil && len(c.Files) > 0 && !yield(engine.TLSFiles{
				Kind: v1alpha1.AlertmanagerConfigKind, Object: c.object, Files: c.Files, LeaveOut: func(why error) { in.configs[i] = c.leftOut(why) },
			}) {
				return
			}
		}
	})
}
