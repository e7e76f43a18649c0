package prometheus

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// tell reports rejected objects, once for each reason: in the log and as an Event
// on the object.
func (c *Controller) tell(log *slog.Logger, o Owner, state *ownerState, in Inputs) {
	rejected := map[string]string{}
	report := func(kind, action string, obj informer.Object, err error) {
		if err == nil || c.stores.namespaceTerminating(obj.GetNamespace()) { // what it refers to may be gone already
			return
		}
		id := kind + " " + obj.GetNamespace() + "/" + obj.GetName()
		rejected[id] = err.Error()
		if state.reported[id] == err.Error() {
			return
		}
		log.Warn("object is rejected", "kind", kind, "namespace", obj.GetNamespace(), "name", obj.GetName(), "err", err)
		if c.recorder != nil {
			regarding := obj.DeepCopyObject()
			regarding.GetObjectKind().SetGroupVersionKind(fullName(kind))
			c.recorder.Eventf(regarding, o.Object, corev1.EventTypeWarning, "InvalidConfiguration", action, "%q was rejected by %s %s/%s: %s",
				obj.GetNamespace()+"/"+obj.GetName(), o.Kind().Name, o.GetNamespace(), o.GetName(), excerpt.Of(err.Error(), maxReasonBytes))
		}
	}
	for _, m := range in.Monitors {
		report(m.Kind, "SelectingConfigurationResources", m.Object, m.Err)
	}
	for _, r := range in.Rules {
		report(v1.PrometheusRuleKind, "SelectingPrometheusRuleResources", r.Object, r.Err)
	}
	state.reported = rejected
}

// maxReasonBytes bounds the reason in an Event: the API server rejects notes of
// more than 1 kB, and names take up to 600 bytes.
const maxReasonBytes = 400

// outcome is what a successful reconciliation reports.
func outcome(o Owner, in Inputs, plan Plan, unmanaged bool) controller.Outcome {
	out := controller.Outcome{Dropped: plan.Dropped}
	total := 0
	for _, n := range in.Counts {
		total += n.Selected
	}
	switch deprecated := deprecatedFields(o); {
	case len(plan.Unbound) > 0:
		out.Reason, out.Message = reasonClaimNotBound, strings.Join(slices.Concat(plan.Unbound, plan.Larger), "; ")
	case len(plan.Larger) > 0:
		out.Reason, out.Message = reasonStorage, strings.Join(plan.Larger, "; ")
	case total == 0:
		out.Reason = reasonNothingSelected
		out.Message = o.Kind().nothing
	case len(deprecated) > 0:
		out.Reason, out.Message = reasonDeprecated, strings.Join(deprecated, "; ")
	case unmanaged:
		out.Reason = reasonConfigUnmanaged
		out.Message = "spec.serviceMonitorSelector, spec.podMonitorSelector, spec.probeSelector and spec.scrapeConfigSelector are all unset, " +
			"so the operator leaves the configuration in the Secret to you; set one of them, or spec.additionalScrapeConfigs with an empty selector, to have it generated"
	case len(plan.Dropped) > 0:
		out.Reason, out.Message = reasonFieldsLeftOut, leftOut(plan.Dropped)
	}
	return out
}

// maxListed bounds how many left out fields a condition names.
const maxListed = 20

func leftOut(dropped []string) string {
	rest := ""
	if n := len(dropped) - maxListed; n > 0 {
		dropped, rest = dropped[:maxListed], fmt.Sprintf("; and %d more", n)
	}
	return "left out, because this version does not support it: " + strings.Join(slices.Clone(dropped), "; ") + rest
}

// deprecatedFields names fields in use that have a replacement. An agent has none.
func deprecatedFields(o Owner) []string {
	p := o.Server
	if p == nil {
		return nil
	}
	var out []string
	add := func(old, replacement, value string) {
		if value != "" {
			out = append(out, fmt.Sprintf("%s is deprecated, use %s", old, replacement))
		}
	}
	add("spec.baseImage", "spec.image", p.Spec.BaseImage)
	add("spec.tag", "spec.image", p.Spec.Tag)
	add("spec.sha", "spec.image", p.Spec.SHA)
	if t := p.Spec.Thanos; t != nil {
		add("spec.thanos.baseImage", "spec.thanos.image", t.BaseImage)
		add("spec.thanos.tag", "spec.thanos.image", t.Tag)
		add("spec.thanos.sha", "spec.thanos.image", t.SHA)
	}
	return out
}
