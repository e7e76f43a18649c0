package alertmanager

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Desired implements [engine.Inputs]. The files of the server come before the objects
// that run the pods. With an invalid base, it returns an error, and the last
// configuration stays in use.
func (in *inputs) Desired() (engine.Plan, error) {
	o := in.owner
	if err := o.Check(); err != nil {
		return engine.Plan{}, err
	}
	if in.baseErr != nil {
		return engine.Plan{}, in.baseErr
	}
	left := in.fitFiles()
	written, err := in.writeConfig()
	if err != nil {
		return engine.Plan{}, err
	}
	if written.Withheld != nil {
		return in.withheld(written)
	}
	plan := engine.Plan{Warnings: slices.Clone(written.Warnings)}
	pod := Inputs{TLSSecrets: plan.PutTLSAssets(o.Base, in.tlsFiles(), in.live), ConfigInParts: written.InParts}
	plan.Content = append(plan.Content, written.Steps...)
	web, err := o.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	cluster, err := o.ClusterTLSSecret()
	if err != nil {
		return plan, err
	}
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: web}, apply.Step{Verb: apply.Put, Object: cluster})
	plan.Hash = plan.ContentHash(written.Parts, in.mounted.Sums())
	plan.Delivered = in.delivered(written)
	plan.Plain = []engine.Plain{{Part: engine.ConfigPart, Text: written.WriteText}}
	if err := in.workloads(&plan, pod); err != nil {
		return plan, err
	}
	in.remark(&plan)
	if text := share.Message(append(left, written.Left...), cmp.Or(written.Remedy, divide)); text != "" {
		plan.Reason, plan.Message = engine.ReasonLeftOut, text
	}
	return plan, nil
}

// withheld returns the plan if the configuration is too large: it keeps the written
// content, and updates the pods to match that content.
func (in *inputs) withheld(written configsecret.Output) (engine.Plan, error) {
	plan := written.Withheld.Plan()
	plan.Warnings = append(plan.Warnings, written.Warnings...)
	if written.LeavePods {
		return plan, nil
	}
	pod := Inputs{ConfigInParts: written.InParts}
	for in.live.Secrets[in.owner.TLSAssetSecretName(pod.TLSSecrets)] != nil {
		pod.TLSSecrets++
	}
	return plan, in.workloads(&plan, pod)
}

// delivered returns the content that the pods have on disk once they have received the
// update.
func (in *inputs) delivered(written configsecret.Output) delivery.Content {
	out := delivery.Content{Config: written.Hash, Dirs: maps.Clone(in.mounted.Dirs)}
	if len(written.Keys) > 0 {
		out.Dirs[configDir] = volume.SumFiles(written.Keys)
	}
	return out
}

// workloads adds the objects that run the pods to the plan.
func (in *inputs) workloads(plan *engine.Plan, pod Inputs) (err error) {
	o := in.owner
	plan.PutService(o, in.live, func(w v1.Workload) workload.ServiceUser { return ForAlertmanager(w.(*v1.Alertmanager), o.Config) })
	if pod.Hash, err = o.InputHash(in.live.StatefulSets[o.PrefixedName()], pod); err != nil {
		return err
	}
	sts, err := o.StatefulSet(pod)
	if err != nil {
		return err
	}
	plan.PutSet(o.Base, sts, in.live)
	return nil
}

// remark adds the warnings that a user should see although nothing failed.
func (in *inputs) remark(plan *engine.Plan) {
	plan.Dropped = append(in.owner.Dropped(), in.base.Dropped...)
	plan.Warnings = append(plan.Warnings, slices.Sorted(slices.Values(append(in.mounted.Warnings, in.base.Warnings...)))...)
	var deprecated []string
	for _, f := range []struct{ field, value string }{
		{"spec.baseImage", in.am.Spec.BaseImage}, {"spec.tag", in.am.Spec.Tag}, {"spec.sha", in.am.Spec.SHA},
	} {
		if f.value != "" {
			deprecated = append(deprecated, f.field+" is deprecated, use spec.image")
		}
	}
	if len(deprecated) > 0 {
		plan.Reason, plan.Message = engine.ReasonDeprecated, strings.Join(deprecated, "; ")
	}
}
