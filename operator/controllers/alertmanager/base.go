package alertmanager

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// compileBase compiles the Alertmanager's own part unless the cached one is current.
func (g *gatherer) compileBase(in *inputs, c engine.Cluster) (amconfig.Frame, error) {
	spec := in.am.Spec
	base := amconfig.Base{AsIs: spec.AlertmanagerConfiguration == nil && spec.AlertmanagerConfigSelector == nil}
	key := fragments.KeyOf(in.am)
	for _, name := range named(in.am) {
		var err error
		if base.Config, err = engine.Named[*v1alpha1.AlertmanagerConfig](c, catalog.AlertmanagerConfig, name); err != nil {
			return amconfig.Frame{}, faults.At("spec.alertmanagerConfiguration.name", err)
		}
		if base.Config == nil {
			return amconfig.Frame{}, faults.At("spec.alertmanagerConfiguration.name", fmt.Errorf("AlertmanagerConfig %q does not exist", name))
		}
		key += fmt.Sprintf("/%s/%t", fragments.KeyOf(base.Config), base.Config.LeftOut)
	}
	return g.base.Get(key, c.Current, func() (amconfig.Frame, []assets.Dependency, error) {
		frame, err := amconfig.CompileBase(in.am, in.Version, base, c.References)
		if base.AsIs && err == nil {
			frame.Warnings = append(frame.Warnings, refusedAsIs(in, c)...)
		}
		return frame, frame.Deps, err
	})
}

// firstLine matches the line of a fault in a configuration.
var firstLine = regexp.MustCompile(`\bline (\d+): `)

// refusedAsIs returns warnings about what Alertmanager will refuse in the configuration of its
// Secret, which the operator passes on as it is.
func refusedAsIs(in *inputs, c engine.Cluster) (out []faults.Finding) {
	const field, consequence = "spec.configSecret", "Alertmanager refuses it (the operator passes it on unchanged, because spec.alertmanagerConfigSelector is not set)"
	frame, err := amconfig.CompileBase(in.am, in.Version, amconfig.Base{}, c.References)
	if err != nil {
		for _, f := range faults.Of(err) {
			remark := faults.Remark(field, "%s; %s", f.Reason, consequence)
			if m := firstLine.FindStringSubmatch(f.Reason); m != nil {
				line, _ := strconv.Atoi(m[1]) // valid by the regular expression, 0 if out of range
				ref := assets.Ref{Kind: assets.Secret, Namespace: in.am.Namespace, Name: in.am.ConfigSecretName()}
				remark.Cause = &assets.ContentError{Ref: ref, Key: v1.AlertmanagerConfigKey, Line: line, Err: errors.New(f.Reason)}
			}
			out = append(out, remark)
		}
		return out
	}
	for _, d := range frame.Dropped {
		out = append(out, faults.Remark(field, "%s in the configuration needs Alertmanager %s; %s", d.Path, d.Need, consequence))
	}
	return out
}
