package wellknown

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// Annotations of a Prometheus or PrometheusAgent with [CentralDiscovery]: how the discovery service divides its targets
// among shards, see [Division].
const (
	AnnotationSharding      = "firekeeper.dev/sharding"
	AnnotationHandoff       = "firekeeper.dev/handoff"
	AnnotationReassignAfter = "firekeeper.dev/reassign-after"
	// AnnotationMaxShards makes the number of shards follow the series: it is at least spec.shards, and at most this.
	AnnotationMaxShards      = "firekeeper.dev/max-shards"
	AnnotationSeriesPerShard = "firekeeper.dev/series-per-shard"
)

// DivisionAnnotations are the annotations for a [Division].
var DivisionAnnotations = []string{AnnotationSharding, AnnotationHandoff, AnnotationReassignAfter, AnnotationMaxShards, AnnotationSeriesPerShard}

// Division is how the discovery service divides the targets of a workload among its shards.
type Division struct {
	// Weighted is true if targets are placed by series, and otherwise by hash.
	Weighted bool
	// Switch is true if a target leaves one shard when it gets to another one, without an overlap.
	Switch bool
	// ReassignAfter is the time after which a shard without a ready pod is given up; 0: never.
	ReassignAfter time.Duration
	// Autoscaling is how the number of shards follows the series.
	Autoscaling Autoscaling
}

// Autoscaling is how the number of shards of a workload follows its series.
type Autoscaling struct {
	// MaxShards is the highest number of shards; 0: the number of shards is spec.shards.
	MaxShards int
	// SeriesPerShard is how many series a shard should have at most.
	SeriesPerShard uint64
}

const (
	defaultReassignAfter = 5 * time.Minute
	minReassignAfter     = time.Minute
	maxReassignAfter     = 24 * time.Hour

	mostShards            = 1000 // as many as spec.shards may be
	defaultSeriesPerShard = 2_000_000
	minSeriesPerShard     = 1_000
	maxSeriesPerShard     = 1_000_000_000
)

// DivisionError is an error in an annotation for a [Division].
type DivisionError struct {
	Annotation string
	Message    string
}

func (e *DivisionError) Error() string { return e.Message }

// ParseDivision reads the annotations for a [Division].
//
// Errors: *DivisionError: another value. The message names the allowed ones.
func ParseDivision(annotations map[string]string) (out Division, err error) {
	choice := func(annotation, byDefault, other string) (isOther bool, err error) {
		switch value, set := annotations[annotation]; {
		case !set || value == byDefault:
			return false, nil
		case value != other:
			return false, notAllowed(annotations, annotation, byDefault+" or "+other)
		}
		return true, nil
	}
	if out.Weighted, err = choice(AnnotationSharding, "hash", "weighted"); err != nil {
		return Division{}, err
	}
	if out.Switch, err = choice(AnnotationHandoff, "overlap", "switch"); err != nil {
		return Division{}, err
	}
	if out.ReassignAfter, err = reassignAfter(annotations); err != nil {
		return Division{}, err
	}
	if out.Autoscaling, err = autoscaling(annotations); err != nil {
		return Division{}, err
	}
	return out, nil
}

// ParseSharding reads which program discovers the targets of a workload, and how they are divided among shards. The
// division is weighted only if the discovery service alone discovers them.
//
// Errors: those of [ParseTargetDiscovery] and [ParseDivision].
func ParseSharding(annotations map[string]string) (TargetDiscovery, Division, error) {
	discovery, err := ParseTargetDiscovery(annotations)
	if err != nil {
		return OwnDiscovery, Division{}, err
	}
	division, err := ParseDivision(annotations)
	if err != nil {
		return OwnDiscovery, Division{}, err
	}
	division.Weighted = division.Weighted && discovery == CentralDiscovery
	return discovery, division, nil
}

// notAllowed returns the error for an annotation with a value that use does not list.
func notAllowed(annotations map[string]string, annotation, use string) error {
	return &DivisionError{annotation, fmt.Sprintf("%q is not allowed: use %s", quoted(annotations[annotation]), use)}
}

// reassignAfter reads [AnnotationReassignAfter].
func reassignAfter(annotations map[string]string) (time.Duration, error) {
	value, set := annotations[AnnotationReassignAfter]
	switch {
	case !set:
		return defaultReassignAfter, nil
	case value == "never":
		return 0, nil
	}
	d, err := model.ParseDuration(value)
	if out := time.Duration(d); err == nil && out >= minReassignAfter && out <= maxReassignAfter {
		return out, nil
	}
	return 0, notAllowed(annotations, AnnotationReassignAfter, "never, or a time from 1m to 1d")
}

// autoscaling reads [AnnotationMaxShards] and [AnnotationSeriesPerShard].
func autoscaling(annotations map[string]string) (out Autoscaling, err error) {
	number := func(annotation string, byDefault, least, most uint64) (uint64, error) {
		value, set := annotations[annotation]
		if !set {
			return byDefault, nil
		}
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || n < least || n > most {
			return 0, notAllowed(annotations, annotation, fmt.Sprintf("a number from %d to %d", least, most))
		}
		return n, nil
	}
	shards, err := number(AnnotationMaxShards, 0, 1, mostShards)
	if err != nil {
		return Autoscaling{}, err
	}
	out.MaxShards = int(shards)
	if out.SeriesPerShard, err = number(AnnotationSeriesPerShard, defaultSeriesPerShard, minSeriesPerShard, maxSeriesPerShard); err != nil {
		return Autoscaling{}, err
	}
	return out, nil
}
