package status

import (
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Condition is a condition of the workload.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"` // True, False, Degraded or Unknown
	Words   string    `json:"words"`  // human-readable form of type and status
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"` // time of the last transition in RFC 3339 format
	// Stale is true if the condition was written for an older generation of the workload.
	Stale bool `json:"stale,omitempty"`
}

// words are human-readable descriptions of each condition and status.
var words = map[v1.ConditionType]map[v1.ConditionStatus]string{
	v1.Reconciled: {
		v1.ConditionTrue:    "the operator has written everything",
		v1.ConditionFalse:   "the last reconciliation failed",
		v1.ConditionUnknown: "not reconciled yet",
	},
	v1.Available: {
		v1.ConditionTrue:     "all pods are ready",
		v1.ConditionDegraded: "some pods are not ready",
		v1.ConditionFalse:    "no pod is ready",
		v1.ConditionUnknown:  "not known whether pods are ready",
	},
	v1.ConfigApplied: {
		v1.ConditionTrue:     "all pods run the latest configuration",
		v1.ConditionDegraded: "some pods do not run the latest configuration",
		v1.ConditionFalse:    "no pod runs the latest configuration",
		v1.ConditionUnknown:  "the operator cannot ask the pods what they run",
	},
	v1.Balanced: {
		v1.ConditionTrue:  "the number of shards follows the series",
		v1.ConditionFalse: "more shards are needed than there may be",
	},
	v1.ScaleDownBlocked: {
		v1.ConditionTrue: "fewer shards would be enough, but their data would be lost",
	},
}

// sharded reports whether a workload has several shards, by its spec or, with autoscaling, by what the operator wrote.
func sharded(w v1.Workload) bool {
	var has int32
	switch p := w.(type) {
	case *v1.Prometheus:
		has = p.Status.Shards
	case *v1alpha1.PrometheusAgent:
		has = p.Status.Shards
	}
	f := v1alpha1.CommonFields(w)
	return has > 1 || f != nil && f.Shards != nil && *f.Shards > 1
}

// conditionsOf returns the conditions in the order of a reconciliation, followed by unknown ones.
func conditionsOf(w v1.Workload) []Condition {
	out := []Condition{}
	order := []v1.ConditionType{v1.Reconciled, v1.Available, v1.ConfigApplied, v1.Balanced, v1.ScaleDownBlocked}
	rank := func(t v1.ConditionType) int {
		for i, o := range order {
			if o == t {
				return i
			}
		}
		return len(order)
	}
	for i := range len(order) + 1 {
		for _, c := range w.GetWorkloadStatus().Conditions {
			if rank(c.Type) != i {
				continue
			}
			said := words[c.Type][c.Status]
			if c.Type == v1.Available && c.Status == v1.ConditionFalse && sharded(w) {
				said = "no pod of at least one shard is ready"
			}
			if said == "" {
				said = string(c.Status)
			}
			out = append(out, Condition{
				Type: string(c.Type), Status: string(c.Status), Words: said, Reason: c.Reason, Message: c.Message,
				Since: c.LastTransitionTime.UTC(), Stale: c.ObservedGeneration != 0 && c.ObservedGeneration < w.GetGeneration(),
			})
		}
	}
	return out
}
