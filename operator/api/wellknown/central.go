package wellknown

import (
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// AnnotationTargetDiscovery is set by users on a Prometheus or PrometheusAgent: who discovers the
// targets of its jobs, see [TargetDiscovery].
const AnnotationTargetDiscovery = "firekeeper.dev/target-discovery"

// TargetDiscovery is the program that discovers the targets of a workload.
type TargetDiscovery string

const (
	// OwnDiscovery is the default: each server discovers the targets of its jobs.
	OwnDiscovery TargetDiscovery = "own"
	// BothDiscoveries is the step of a migration: the servers discover their targets and also
	// receive the list of the discovery service.
	BothDiscoveries TargetDiscovery = "both"
	// CentralDiscovery replaces the discovery of the servers by the discovery service.
	CentralDiscovery TargetDiscovery = "central"
)

// targetDiscoveries are the allowed values, in the order of a migration.
var targetDiscoveries = []TargetDiscovery{OwnDiscovery, BothDiscoveries, CentralDiscovery}

// Central reports whether the discovery service provides targets.
func (d TargetDiscovery) Central() bool { return d == BothDiscoveries || d == CentralDiscovery }

// maxQuoted limits how much of a wrong value an error repeats, in bytes.
const maxQuoted = 64

// ParseTargetDiscovery reads [AnnotationTargetDiscovery]. Without the annotation it returns
// OwnDiscovery.
//
// Errors: another value. The message names the allowed values.
func ParseTargetDiscovery(annotations map[string]string) (TargetDiscovery, error) {
	value, set := annotations[AnnotationTargetDiscovery]
	switch d := TargetDiscovery(value); {
	case !set:
		return OwnDiscovery, nil
	case slices.Contains(targetDiscoveries, d):
		return d, nil
	}
	return OwnDiscovery, fmt.Errorf("%q is not allowed: use own, both or central", quoted(value))
}

// quoted returns what an error repeats of a wrong value.
func quoted(value string) string { return excerpt.Of(value, maxQuoted) }
