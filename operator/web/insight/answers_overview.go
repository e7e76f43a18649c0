package insight

import (
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
)

// OverviewQuery selects workloads. Without a filter by name, the problems are theirs.
type OverviewQuery struct {
	Page
	Level     Level  // empty for all
	Kind      string // empty for all
	Namespace string // empty for all
}

// Overview lists the workloads and the problems that need attention.
type Overview struct {
	// Attention lists the problems that need attention, the most urgent first, at most 100. It is not paginated.
	Attention []Attention `json:"attention"`
	// AttentionTotal is the number of all problems, including those that are not listed.
	AttentionTotal int `json:"attentionTotal"`
	// Groups lists the same problems, equal ones together, the most urgent first, at most 50. It is not paginated.
	Groups    []AttentionGroup `json:"groups"`
	Workloads []WorkloadRow    `json:"workloads"`
	Part
	// Levels is the number of workloads on all pages, by their level and independent of a filter by level.
	Levels map[Level]int `json:"levels"`
	// Health is the number of workloads on all pages, by their state.
	Health map[Health]int `json:"health"`
	// Unselected lists objects that no workload selects, at most 100. Objects are omitted if this could not be
	// determined.
	Unselected []catalog.Ref `json:"unselected"`
	// UnselectedTotal is the number of all unselected objects, including those that are not listed.
	UnselectedTotal int `json:"unselectedTotal"`
	// Unread lists what could not be read and is therefore missing, with the reasons. Absent if the response is
	// complete.
	Unread []string `json:"unread,omitempty"`
	// Namespaces lists namespaces with workloads or objects that the caller may list, to suggest, at most 100.
	Namespaces []string `json:"-"`
	// AsOf is the time of the data. It is not part of the JSON, which would then change all the time.
	AsOf time.Time `json:"-"`
}

// Urgency is the severity of a problem.
type Urgency string

const (
	Broken  Urgency = "broken"  // something does not work
	Warning Urgency = "warning" // something does not work as its author intended
)

// Cause is the kind of a problem.
type Cause string

const (
	RejectedObject Cause = "rejected"       // an object is left out
	InvalidOwner   Cause = "invalid"        // the spec of a workload cannot be reconciled
	NotReconciled  Cause = "not-reconciled" // a workload is not reconciled yet, or its reconciliation failed
	PodsBehind     Cause = "pods"           // pods are not ready or do not run the current configuration
	StuckRollout   Cause = "rollout"        // pods of an old revision are not replaced
	NoTargets      Cause = "no-targets"     // an object is accepted but has no targets
	Overlapping    Cause = "overlap"        // other jobs of the workload scrape the same URLs
	Unbalanced     Cause = "unbalanced"     // one shard has many more targets than the others
)

// Attention is a problem that needs attention.
type Attention struct {
	Problem
	Workload catalog.Ref `json:"workload"`
	Object   catalog.Ref `json:"object,omitzero"` // object with the problem; absent if the workload itself has it
}

// Problem describes a problem regardless of where it occurs.
type Problem struct {
	Urgency Urgency `json:"urgency"`
	Cause   Cause   `json:"cause"`
	Title   string  `json:"title"` // short name of the problem, human-readable
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"`     // suggested fix, human-readable; absent if there is none
	Command string  `json:"command,omitempty"` // shell command that shows more; absent if there is none
}

// AttentionGroup is a problem that occurs in one or more places.
type AttentionGroup struct {
	Problem
	Total int     `json:"total"` // number of places
	Of    []Place `json:"of"`    // the first places, at most 20
}

// Place is where a problem occurs.
type Place struct {
	Workload catalog.Ref `json:"workload"`
	Object   catalog.Ref `json:"object,omitzero"` // absent if the workload itself has the problem
}

// Level is the urgency of the most urgent problem of a workload.
type Level string

const (
	LevelGood    Level = "good"    // no problem
	LevelBroken  Level = "broken"  // a problem with urgency "broken"
	LevelWarning Level = "warning" // a problem with urgency "warning"
	LevelOther   Level = "other"   // paused, not managed by this operator, or its pods could not be read
)

// Levels are all levels, the most urgent first.
var Levels = []Level{LevelBroken, LevelWarning, LevelOther, LevelGood}

// Health is the overall state of a workload.
type Health string

const (
	Good           Health = "good"
	NeedsAttention Health = "attention"
	Invalid        Health = "invalid"
	Unmanaged      Health = "not-managed" // not managed by this operator
	Paused         Health = "paused"
	Unreconciled   Health = "not-reconciled" // not reconciled yet
	PodsNotKnown   Health = "pods-unknown"   // pods could not be read; no other problem
)

// WorkloadRow is the summary of a workload.
type WorkloadRow struct {
	catalog.Ref
	Version string `json:"version,omitempty"`
	State   Health `json:"state"`
	Level   Level  `json:"level"`
	Good    bool   `json:"good"` // true if the workload has no problem that needs attention
	Message string `json:"message,omitempty"`
	Paused  bool   `json:"paused,omitempty"`
	Pods    int    `json:"pods"`  // number of pods
	Ready   int    `json:"ready"` // number of ready pods
	// PodsUnknown is true if the pods could not be read. The fields pods and ready are then meaningless.
	PodsUnknown bool `json:"podsUnknown,omitempty"`
	Accepted    int  `json:"accepted"` // number of selected objects that are accepted
	Rejected    int  `json:"rejected"` // number of selected objects that are rejected
	// ConfigSince is the time of the last change of the generated configuration, in RFC 3339 format. Absent if unknown.
	ConfigSince time.Time `json:"configSince,omitzero"`
	// Targets is the number of targets by state. Absent if the kind has no targets, if they have not been requested
	// recently, or if the caller may not see all of them.
	Targets *preview.Counts `json:"targets,omitempty"`
}
