package workload

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Retirement is what should happen to the StatefulSet of a shard that is no
// longer wanted.
type Retirement struct {
	// Delete says that it should go now.
	Delete bool
	// Deadline is the value AnnotationDeletionDeadline should get, RFC 3339 in
	// UTC; the zero time means never. Empty leaves the annotation as it is.
	Deadline string
}

// Retire decides about a StatefulSet with the given annotations at the time now.
//
//	policy | annotation     | result
//	Delete | any            | delete
//	Retain | none           | set the deadline, keep
//	Retain | zero time      | keep forever
//	Retain | before now     | delete
//	Retain | later          | keep; it is never computed again
//
// Errors: a deadline or duration that does not parse; the shard is then kept.
func (o *Owner) Retire(annotations map[string]string, now time.Time) (Retirement, error) {
	if !o.retainsShards() {
		return Retirement{Delete: true}, nil
	}
	text, ok := annotations[AnnotationDeletionDeadline]
	if !ok {
		return o.retireAfter(now)
	}
	deadline, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return Retirement{}, fmt.Errorf("annotation %s: %w", AnnotationDeletionDeadline, err)
	}
	return Retirement{Delete: !deadline.IsZero() && deadline.Before(now)}, nil
}

func (o *Owner) retainsShards() bool {
	return o.cfg.ShardRetention && o.server != nil && o.server.ShardRetentionPolicy != nil &&
		o.server.ShardRetentionPolicy.WhenScaled == v1.RetainWhenScaledRetentionType
}

// retireAfter computes the deadline. A period of zero, and a server whose
// storage is limited by size only, mean forever.
func (o *Owner) retireAfter(now time.Time) (Retirement, error) {
	field, period := "spec.retention", DefaultRetention
	switch retain := o.server.ShardRetentionPolicy.Retain; {
	case retain != nil:
		field, period = "spec.shardRetentionPolicy.retain.retentionPeriod", string(retain.RetentionPeriod)
	case o.server.Retention != "":
		period = string(o.server.Retention)
	case o.server.RetentionSize != "":
		period = "0"
	}
	grace, err := model.ParseDuration(period)
	if err != nil {
		return Retirement{}, fmt.Errorf("%s: %w", field, err)
	}
	deadline := time.Time{}
	if grace != 0 {
		deadline = now.UTC().Add(time.Duration(grace))
	}
	return Retirement{Deadline: deadline.Format(time.RFC3339)}, nil
}
