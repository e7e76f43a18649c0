package prometheus

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// ScalingLimits returns the limits for the number of shards of a workload; ok is false without autoscaling.
func ScalingLimits(w v1.Workload) (limits scaling.Limits, ok bool) {
	o := workloadOf(w)
	if o.usesDaemonSet() {
		return limits, false
	}
	return scaling.LimitsOf(o.GetAnnotations(), o.Fields.Shards)
}

// scaled returns the workload with the number of shards that the discovery service decided on. The workload keeps its
// current number while the decision is not known, and also if it has the annotation for autoscaling with an invalid value
// or without central discovery: the targets of a shard that is removed before it is drained are not scraped for a while.
// The number of servers decreases only if their data is kept.
func (o Workload) scaled(opts Options) Workload {
	if o.GetAnnotations()[wellknown.AnnotationMaxShards] == "" || o.usesDaemonSet() {
		return o
	}
	has := int(o.Status.Shards)
	limits, ok := ScalingLimits(o.typed())
	if !ok {
		if floor := ptr.Deref(o.Fields.Shards, 1); o.Status.Shards > floor {
			return o.withShards(o.Status.Shards)
		}
		return o
	}
	o.limits = &limits
	shards := has
	if decided, ok, err := o.scaling(opts.Scaling); ok && err == nil && decided.Shards > 0 {
		shards = decided.Shards
	}
	if o.Server != nil && !o.retains(opts.Workload.ShardRetention) {
		shards = max(shards, has)
	}
	return o.withShards(int32(limits.Clamp(shards, has)))
}

// withShards returns the workload with another number of shards. The object is shared, so it is copied as far as it changes.
func (o Workload) withShards(n int32) (out Workload) {
	if o.Server != nil {
		next := *o.Server
		out = forServer(&next)
	} else {
		next := *o.Agent
		out = forAgent(&next)
	}
	out.Fields.Shards, out.limits = &n, o.limits
	return out
}

// scaling returns the decision of the discovery service about a workload; ok is false if it has not decided.
//
// Errors: the decisions cannot be read.
func (o Workload) scaling(read func() (scaling.Document, error)) (out scaling.Workload, ok bool, err error) {
	if read == nil || o.limits == nil {
		return out, false, nil
	}
	all, err := read()
	out, ok = all[scaling.Name(o.Row().Kind, o.GetNamespace(), o.GetName())]
	return out, ok, err
}

// scalingWarnings adds warnings about the number of shards.
func (plan *Plan) scalingWarnings(in *Inputs) {
	decided, _, err := in.Workload.scaling(in.options.Scaling)
	annotation := faults.Key("metadata.annotations", wellknown.AnnotationMaxShards)
	switch limits := in.Workload.limits; {
	case limits != nil && limits.Max == limits.Floor:
		plan.Warnings = append(plan.Warnings, faults.Remark(annotation, "has no effect: there are %d shards in any case, because of spec.shards", limits.Floor))
	case err != nil:
		plan.Warnings = append(plan.Warnings, faults.Remark(annotation, "the number of shards stays as it is: %v", err))
	case decided.Held != nil && decided.Held.Message != "":
		plan.Warnings = append(plan.Warnings, faults.Remark(annotation, "%s", decided.Held.Message))
	}
}

// scalingConditions returns the conditions about the number of shards.
func (f *family) scalingConditions(o Workload) []v1.Condition {
	decided, ok, _ := o.scaling(f.Scaling)
	if !ok {
		return nil
	}
	balanced := v1.Condition{Type: v1.Balanced, Status: v1.ConditionTrue, Reason: "FollowsSeries", LastTransitionTime: metav1.NewTime(decided.Since)}
	if n := len(decided.Steps); n > 0 {
		last := decided.Steps[n-1]
		balanced.LastTransitionTime = metav1.NewTime(last.At)
		balanced.Message = "shards: " + strconv.Itoa(last.From) + " → " + strconv.Itoa(last.To) + ": " + last.Why
	}
	out := []v1.Condition{balanced}
	if held := decided.Held; held != nil {
		c := v1.Condition{Status: v1.ConditionTrue, Type: v1.ScaleDownBlocked, Reason: string(held.Reason), Message: held.Message, LastTransitionTime: metav1.NewTime(held.Since)}
		if held.Reason == scaling.AtMaxShards {
			c.Type, c.Status = v1.Balanced, v1.ConditionFalse
			out = nil
		}
		out = append(out, c)
	}
	for i := range out {
		out[i].ObservedGeneration = o.Object.GetGeneration()
	}
	return out
}
