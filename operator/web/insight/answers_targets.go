package insight

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// TargetQuery selects targets.
type TargetQuery struct {
	Page
	Of     Object               // a workload or an object that workloads select; empty for a pod
	Pod    types.NamespacedName // select the targets of this pod
	State  targets.State        // empty for all
	Reason string               // prefix of the origin of the relabel step that drops
	Skip   string               // prefix of the origin of relabel steps whose dropped targets are left out
	Job    string
	Shard  int // or preview.AllShards
}

// Targets lists the requested targets.
type Targets struct {
	Items  []preview.Target `json:"items"`
	Counts preview.Counts   `json:"counts"` // number of targets by state, on all pages
	Jobs   []JobCounts      `json:"jobs"`
	Part
	// AsOf is the time of the last change of any of these targets, in RFC 3339 format.
	AsOf time.Time `json:"asOf"`
	// Synced is false while the cluster is still being read. Targets may then be missing.
	Synced bool     `json:"synced"`
	Notes  []string `json:"notes,omitempty"` // what is unknown, with the reasons
	// Overlaps lists the URLs that a workload scrapes more than once, at most 20. Only for a pod.
	Overlaps []Overlap `json:"overlaps,omitempty"`
}

// Overlap is a URL that several jobs of a workload scrape.
type Overlap struct {
	Workload catalog.Ref   `json:"workload"`
	URL      string        `json:"url"`
	Jobs     int           `json:"jobs"`    // number of jobs
	Objects  []catalog.Ref `json:"objects"` // objects from which the jobs are generated, at most 20
}

// JobCounts is the number of targets of a job, by state.
type JobCounts struct {
	Workload catalog.Ref    `json:"workload"`
	Object   catalog.Ref    `json:"object"` // object from which the job is generated
	Job      string         `json:"job"`
	Counts   preview.Counts `json:"counts"`
}

// Trace is a target with the result of each relabel step.
type Trace struct {
	Workload catalog.Ref    `json:"workload"`
	Object   catalog.Ref    `json:"object"` // object from which the job is generated
	Target   preview.Target `json:"target"`
	Steps    []Step         `json:"steps"`
	// Manifest is the object as YAML, to be edited and sent to the preview. Absent if the caller may not see it.
	Manifest string `json:"manifest,omitempty"`
	// Also lists the objects with other jobs that scrape the same URL.
	Also []catalog.Ref `json:"also,omitempty"`
}

// Step is a relabel step and its effect on the labels of a target.
type Step struct {
	Origin  string            `json:"origin"`            // field, or rule of the operator, from which the step is generated
	Rule    string            `json:"rule"`              // YAML
	Added   map[string]string `json:"added,omitempty"`   // added labels with their values
	Changed map[string]string `json:"changed,omitempty"` // changed labels with their new values
	Removed []string          `json:"removed,omitempty"` // names of removed labels
	Drops   bool              `json:"drops,omitempty"`   // true if the step drops the target; it is then the last step
}

// Routes is the routing tree of an Alertmanager.
type Routes struct {
	Alertmanager catalog.Ref `json:"alertmanager"`
	routing.Report
	// Tried is true if the request had labels. Otherwise the tree is returned without the path of an alert.
	Tried bool `json:"tried"`
	// Unread lists what could not be read and is therefore missing, with the reasons. Absent if the response is
	// complete.
	Unread []string `json:"unread,omitempty"`
}
