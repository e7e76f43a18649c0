package promconfig

import (
	"github.com/alecthomas/units"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// JobLimits are the numeric limits of one job; 0 means no limit.
type JobLimits struct {
	// SampleLimit is the maximum number of samples per scrape.
	SampleLimit *uint64 `yaml:"sample_limit,omitempty"`
	// TargetLimit is the maximum number of targets of the job.
	TargetLimit *uint64 `yaml:"target_limit,omitempty" since:"2.21.0"`
	// LabelLimit is the maximum number of labels per sample.
	LabelLimit *uint64 `yaml:"label_limit,omitempty" since:"2.27.0"`
	// LabelNameLengthLimit in bytes.
	LabelNameLengthLimit *uint64 `yaml:"label_name_length_limit,omitempty" since:"2.27.0"`
	// LabelValueLengthLimit in bytes.
	LabelValueLengthLimit *uint64 `yaml:"label_value_length_limit,omitempty" since:"2.27.0"`
	// KeepDroppedTargets is the maximum number of dropped targets kept in memory.
	KeepDroppedTargets *uint64 `yaml:"keep_dropped_targets,omitempty" since:"2.47.0"`
}

// GlobalLimits are the default limits for jobs.
type GlobalLimits struct {
	// BodySizeLimit of one scrape: number and unit, powers of 1024.
	BodySizeLimit v1.ByteSize `yaml:"body_size_limit,omitempty" since:"2.45.0"`
	// SampleLimit of one scrape.
	SampleLimit *uint64 `yaml:"sample_limit,omitempty" since:"2.45.0"`
	// TargetLimit of a job.
	TargetLimit *uint64 `yaml:"target_limit,omitempty" since:"2.45.0"`
	// LabelLimit of one sample.
	LabelLimit *uint64 `yaml:"label_limit,omitempty" since:"2.45.0"`
	// LabelNameLengthLimit in bytes.
	LabelNameLengthLimit *uint64 `yaml:"label_name_length_limit,omitempty" since:"2.45.0"`
	// LabelValueLengthLimit in bytes.
	LabelValueLengthLimit *uint64 `yaml:"label_value_length_limit,omitempty" since:"2.45.0"`
	// KeepDroppedTargets is the maximum number of dropped targets kept in memory.
	KeepDroppedTargets *uint64 `yaml:"keep_dropped_targets,omitempty" since:"2.47.0"`
}

// enforcedLimits are the limits enforced by a workload; nil and 0 mean none.
type enforcedLimits struct {
	Samples, Targets, Labels, LabelNameLength, LabelValueLength, KeepDropped *uint64

	BodySize v1.ByteSize
}

func enforcedFrom(c *v1.CommonPrometheusFields) enforcedLimits {
	return enforcedLimits{
		Samples: c.EnforcedSampleLimit, Targets: c.EnforcedTargetLimit, Labels: c.EnforcedLabelLimit,
		LabelNameLength: c.EnforcedLabelNameLengthLimit, LabelValueLength: c.EnforcedLabelValueLengthLimit,
		KeepDropped: c.EnforcedKeepDroppedTargets, BodySize: c.EnforcedBodySizeLimit,
	}
}

// inheritsSince is the first version in which jobs without a limit inherit the global one.
const inheritsSince = "2.45.0"

// job applies the enforced limits to those of a monitor.
func (e enforcedLimits) job(m v1.ScrapeLimits, t gate.Target) JobLimits {
	inherits := t.AtLeast(inheritsSince)
	return JobLimits{
		SampleLimit:           jobLimit(m.SampleLimit, e.Samples, inherits),
		TargetLimit:           jobLimit(m.TargetLimit, e.Targets, inherits),
		LabelLimit:            jobLimit(m.LabelLimit, e.Labels, inherits),
		LabelNameLengthLimit:  jobLimit(m.LabelNameLengthLimit, e.LabelNameLength, inherits),
		LabelValueLengthLimit: jobLimit(m.LabelValueLengthLimit, e.LabelValueLength, inherits),
		KeepDroppedTargets:    jobLimit(m.KeepDroppedTargets, e.KeepDropped, inherits),
	}
}

// jobLimit returns the limit to write for one job.
//
//	cap   user      written
//	none  any       user
//	set   none, 0   nothing if jobs inherit the global limit, else the cap
//	set   set       the smaller
func jobLimit(user, limit *uint64, inherits bool) *uint64 {
	switch {
	case limit == nil || *limit == 0:
		return user
	case user != nil && *user > 0:
		return new(min(*user, *limit))
	case inherits:
		return nil
	}
	return limit
}

// global applies the enforced limits to the workload's own limits. warnings lists the
// fields that were overridden.
func (e enforcedLimits) global(c *v1.CommonPrometheusFields) (out GlobalLimits, warnings []faults.Finding) {
	out.BodySizeLimit = c.BodySizeLimit
	if out.BodySizeLimit == "" {
		out.BodySizeLimit = e.BodySize
	}
	for _, row := range []struct {
		field     string
		own, caps *uint64
		dst       **uint64
	}{
		{"spec.sampleLimit", c.SampleLimit, e.Samples, &out.SampleLimit},
		{"spec.targetLimit", c.TargetLimit, e.Targets, &out.TargetLimit},
		{"spec.labelLimit", c.LabelLimit, e.Labels, &out.LabelLimit},
		{"spec.labelNameLengthLimit", c.LabelNameLengthLimit, e.LabelNameLength, &out.LabelNameLengthLimit},
		{"spec.labelValueLengthLimit", c.LabelValueLengthLimit, e.LabelValueLength, &out.LabelValueLengthLimit},
		{"spec.keepDroppedTargets", c.KeepDroppedTargets, e.KeepDropped, &out.KeepDroppedTargets},
	} {
		own, limit := positive(row.own), positive(row.caps)
		switch {
		case own != nil && limit != nil && *own > *limit:
			warnings = append(warnings, faults.Remark(row.field, "is larger than the enforced limit, which is used"))
			*row.dst = limit
		case own != nil:
			*row.dst = own
		default:
			*row.dst = limit
		}
	}
	return out, warnings
}

func positive(v *uint64) *uint64 {
	if v == nil || *v == 0 {
		return nil
	}
	return v
}

// jobBodySize returns the smaller of the monitor's and the enforced size, in its original
// spelling. Prometheus interprets sizes up to 0 as no limit, so they never count as smaller. Otherwise,
// a monitor could bypass the limit with them, for example with 8EB, which is one byte more than the largest
// integer and overflows to the smallest.
func (e enforcedLimits) jobBodySize(user v1.ByteSize) v1.ByteSize {
	limit, own := bytesOf(e.BodySize), bytesOf(user)
	switch {
	case limit <= 0 && user != "":
		return user
	case own <= 0 || limit < own:
		return e.BodySize
	}
	return user
}

// bytesOf parses a size; an invalid one counts as 0.
func bytesOf(s v1.ByteSize) int64 {
	n, err := units.ParseBase2Bytes(string(s))
	if err != nil {
		return 0
	}
	return int64(n)
}
