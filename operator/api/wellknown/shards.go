package wellknown

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
)

// Annotations of a Prometheus or PrometheusAgent with [CentralDiscovery]: how the discovery service divides its targets
// among shards, see [Division].
const (
	AnnotationSharding      = "firekeeper.dev/sharding"
	AnnotationHandoff       = "firekeeper.dev/handoff"
	AnnotationReassignAfter = "firekeeper.dev/reassign-after"
)

// DivisionAnnotations are the annotations for a [Division].
var DivisionAnnotations = []string{AnnotationSharding, AnnotationHandoff, AnnotationReassignAfter}

// Division says how the discovery service divides the targets of a workload among its shards.
type Division struct {
	// Weighted is true if targets are placed by series, and otherwise by hash.
	Weighted bool
	// Switch is true if a target leaves one shard when it gets to another one, without an overlap.
	Switch bool
	// ReassignAfter is the time after which a shard without a ready pod is given up; 0: never.
	ReassignAfter time.Duration
}

const (
	defaultReassignAfter = 5 * time.Minute
	minReassignAfter     = time.Minute
	maxReassignAfter     = 24 * time.Hour
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
	wrong := func(annotation, use string) error {
		return &DivisionError{annotation, fmt.Sprintf("%q is not allowed: use %s", quoted(annotations[annotation]), use)}
	}
	choice := func(annotation, byDefault, other string) (isOther bool, err error) {
		switch value, set := annotations[annotation]; {
		case !set || value == byDefault:
			return false, nil
		case value != other:
			return false, wrong(annotation, byDefault+" or "+other)
		}
		return true, nil
	}
	if out.Weighted, err = choice(AnnotationSharding, "hash", "weighted"); err != nil {
		return Division{}, err
	}
	if out.Switch, err = choice(AnnotationHandoff, "overlap", "switch"); err != nil {
		return Division{}, err
	}
	out.ReassignAfter = defaultReassignAfter
	switch value, set := annotations[AnnotationReassignAfter]; {
	case value == "never":
		out.ReassignAfter = 0
	case set:
		d, err := model.ParseDuration(value)
		if out.ReassignAfter = time.Duration(d); err != nil || out.ReassignAfter < minReassignAfter || out.ReassignAfter > maxReassignAfter {
			return Division{}, wrong(AnnotationReassignAfter, "never, or a time from 1m to 1d")
		}
	}
	return out, nil
}
