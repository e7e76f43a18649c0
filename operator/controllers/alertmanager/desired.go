package alertmanager

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Desired implements [engine.Inputs]. The files of the server come before the objects
// that run the pods. With an invalid base, it returns an error, and the last
// configuration stays in use.
func (in *inputs) Desired() (engine.Plan, error) {
	b := in.builder
	if err := b.Check(); err != nil {
		return engine.Plan{}, err
	}
	if in.baseErr != nil {
		return engine.Plan{}, in.baseErr
	}
	left := append(in.costly, in.fitFiles()...)
	written, err := in.writeConfig()
	if err != nil {
		return engine.Plan{}, err
	}
	if written.Withheld != nil {
		return in.withheld(written)
	}
	plan := engine.Plan{Warnings: slices.Clone(written.Warnings)}
	pod := workload.PodInputs{TLSSecrets: plan.PutTLSAssets(b.Base, in.tlsFiles(), in.live), ConfigInParts: written.InParts}
	plan.Content = append(plan.Content, written.Steps...)
	web, err := b.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	cluster, err := b.NewClusterTLSSecret(b.clusterTLS())
	if err != nil {
		return plan, err
	}
	plan.Put(web, cluster)
	plan.Hash = plan.ContentHash(written.Parts, in.mounted.Sums())
	plan.Delivered = in.delivered(written)
	plan.Plain = []engine.Plain{{Part: engine.ConfigPart, Text: written.WriteText}}
	if err := plan.PutPods(b, pod, in.live, in.peer); err != nil {
		return plan, err
	}
	plan.Dropped = append(b.Dropped(), in.base.Dropped...)
	warnings := slices.Concat(in.mounted.Warnings, in.base.Warnings)
	faults.Sort(warnings)
	plan.Warnings = append(plan.Warnings, warnings...)
	plan.Deprecate(
		engine.Deprecated{Field: "spec.baseImage", Use: "spec.image", Set: b.spec.BaseImage != ""},
		engine.Deprecated{Field: "spec.tag", Use: "spec.image", Set: b.spec.Tag != ""},
		engine.Deprecated{Field: "spec.sha", Use: "spec.image", Set: b.spec.SHA != ""},
	)
	plan.LeaveOut(append(left, written.Left...), cmp.Or(written.Remedy, divide))
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
	pod := workload.PodInputs{TLSSecrets: in.live.TLSSecrets(in.Base), ConfigInParts: written.InParts}
	return plan, plan.PutPods(in.builder, pod, in.live, in.peer)
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

// peer returns another Alertmanager, with which the Service is shared.
func (in *inputs) peer(w v1.Workload) workload.ServiceUser {
	return newBuilder(w.(*v1.Alertmanager), in.Config)
}
