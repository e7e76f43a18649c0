package prometheus

import (
	"time"

	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// surplus decides whether to keep or delete a surplus shard:
//
//	retention policy    | deadline annotation | decision
//	--------------------|---------------------|---------------------------
//	none, or Delete     | any                 | delete
//	of an agent         | any                 | delete, because agents store no data to query
//	Retain              | absent              | set it; zero time: forever
//	Retain              | zero time           | keep
//	Retain              | in the future       | keep
//	Retain              | in the past         | delete
//	Retain              | does not parse      | keep and warn
func (plan *Plan) surplus(in *Inputs, sts *appsv1.StatefulSet) {
	identity := func(annotations map[string]string) *appsv1.StatefulSet {
		meta := in.builder().Identity(sts.Name)
		meta.Annotations = annotations
		return &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: meta}
	}
	remove := apply.Step{Verb: apply.Remove, Object: identity(nil)}
	if !in.retains() {
		plan.Workload = append(plan.Workload, remove)
		return
	}
	plan.warnOfOldReader(in, sts)
	text, set := sts.Annotations[wellknown.AnnotationDeletionDeadline]
	if !set {
		deadline, err := deletionDeadline(in.Workload.Server, in.Now)
		if err != nil {
			plan.Warnings = append(plan.Warnings, faults.Remark("", "StatefulSet %s is kept: %v", sts.Name, err))
			return
		}
		plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Annotate, Object: identity(map[string]string{
			wellknown.AnnotationDeletionDeadline: deadline.Format(time.RFC3339),
		})})
		return
	}
	deadline, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		plan.Warnings = append(plan.Warnings, faults.Remark("", "StatefulSet %s is kept: annotation %s: %v", sts.Name, wellknown.AnnotationDeletionDeadline, err))
	case !deadline.IsZero() && deadline.Before(in.Now):
		plan.Workload = append(plan.Workload, remove)
	}
}

// retains reports whether surplus shards are kept for a while.
func (in *Inputs) retains() bool { return in.Workload.retains(in.config().ShardRetention) }

// retains reports whether surplus shards are kept for a while, if the operator may do that.
func (o Workload) retains(enabled bool) bool {
	if o.Server == nil || !enabled {
		return false
	}
	policy := o.Server.Spec.ShardRetentionPolicy
	return policy != nil && policy.WhenScaled == v1.RetainWhenScaledRetentionType
}

// RetainsShards reports whether surplus shards of a workload are kept for a while.
func RetainsShards(w v1.Workload, opts Options) bool {
	return workloadOf(w).retains(opts.Workload.ShardRetention)
}

// retained returns the StatefulSets of surplus shards that are kept. They are not updated,
// because a restart could lose the data for which their pods are kept.
func (in *Inputs) retained() map[string]bool {
	if !in.retains() {
		return nil
	}
	out := map[string]bool{}
	b := in.builder()
	for _, name := range in.Unwanted(b.Base, b.ShardNames()...) {
		out[name] = true
	}
	return out
}

// warnOfOldReader warns if a retained shard cannot read a configuration in parts.
func (plan *Plan) warnOfOldReader(in *Inputs, sts *appsv1.StatefulSet) {
	if len(plan.written.Parts) == 0 {
		return
	}
	if fault := in.builder().PartsFaultOf(&sts.Spec.Template.Spec); fault != "" {
		plan.Warnings = append(plan.Warnings, faults.Remark("",
			"StatefulSet %s is retained and cannot read the configuration, which is in parts: %s; its pods keep the configuration that they have, and one that restarts waits until the configuration fits into one Secret",
			sts.Name, fault))
	}
}

// deletionDeadline returns the time after which a surplus shard may be deleted. The zero
// time means never.
func deletionDeadline(p *v1.Prometheus, now time.Time) (time.Time, error) {
	period, field := string(p.Spec.Retention), "spec.retention"
	switch retain := p.Spec.ShardRetentionPolicy.Retain; {
	case retain != nil:
		period, field = string(retain.RetentionPeriod), "spec.shardRetentionPolicy.retain.retentionPeriod"
	case period == "" && p.Spec.RetentionSize != "":
		return time.Time{}, nil
	case period == "":
		period = wellknown.DefaultRetention
	}
	d, err := model.ParseDuration(period)
	if err != nil {
		return time.Time{}, faults.At(field, err)
	}
	if d == 0 {
		return time.Time{}, nil
	}
	return now.UTC().Add(time.Duration(d)), nil
}
