package insight

import (
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
)

// Workload is the detailed status of a workload.
type Workload struct {
	status.Report
	State   Health `json:"state"`
	Version string `json:"version,omitempty"`
	Shards  int    `json:"shards,omitempty"`
	// ConfigSince is the time of the last change of the generated configuration, in RFC 3339 format. Absent if unknown.
	ConfigSince time.Time `json:"configSince,omitzero"`
	// Targets is the number of targets by state. Absent if the kind has no targets, if they have not been requested
	// recently, or if the caller may not see all of them.
	Targets *preview.Counts `json:"targets,omitempty"`
	// UI is how to reach the web interface of the program. Absent if unknown.
	UI *UI `json:"ui,omitempty"`
	// Changes lists what has changed, the last change first, at most 20.
	Changes []Change `json:"changes"`
	// Deliveries lists how the last changes of the configuration have reached the pods, the last change first,
	// at most 10. They are only in the memory of the operator that wrote the changes, and lost when it
	// restarts.
	Deliveries []Delivery `json:"deliveries,omitempty"`
	// CanQuery is true if its servers can be queried for the health of their targets. QueryDenied is the permission
	// that the caller lacks for that; empty if there is another reason.
	CanQuery    bool   `json:"-"`
	QueryDenied string `json:"-"`
	// PerShard is the number of scraped targets of each shard, starting with shard 0. Absent if unknown.
	PerShard []int `json:"perShard,omitempty"`
	// Counts is the number of objects by kind and state. The field objects lists only some of them by name.
	Counts map[string]map[status.State]int `json:"counts"`
	// Attention lists the problems that need attention, the most urgent first, at most 100.
	Attention []Attention `json:"attention"`
	// AttentionTotal is the number of all problems, including those that are not listed.
	AttentionTotal int `json:"attentionTotal"`
	// Groups lists the same problems, equal ones together, the most urgent first, at most 50.
	Groups []AttentionGroup `json:"groups"`
}

// UI is how to reach the web interface of a program.
type UI struct {
	// URL is spec.externalUrl. Absent if that is not set, or not a plain http or https URL.
	URL string `json:"url,omitempty"`
	// Command is a shell command that forwards a port to a pod, and Local the URL that then works. Absent if there
	// is no pod.
	Command string `json:"command,omitempty"`
	Local   string `json:"local,omitempty"`
}

// Change is a change of a workload.
type Change struct {
	At     time.Time   `json:"at"` // in RFC 3339 format
	What   string      `json:"what"`
	Object catalog.Ref `json:"object,omitzero"` // object that the workload selects; absent if the change is not about one
}

// Delivery is how a change of the configuration has reached the pods of a workload. Times of pods are those of the
// clocks of their nodes.
type Delivery struct {
	timeline.Change
	// Hidden is the number of objects that are left out because the caller may not get them.
	Hidden int `json:"hidden,omitempty"`
}

// SourceQuery selects objects of a workload.
type SourceQuery struct {
	Page
	State status.State // empty for all
	Kind  string       // empty for all
}

// Sources lists the objects that a workload could select.
type Sources struct {
	Workload catalog.Ref          `json:"workload"`
	Counts   map[status.State]int `json:"counts"` // number of objects by state, on all pages and independent of filters
	Items    []Source             `json:"items"`
	Part
	// Unread lists what could not be read and is therefore missing, with the reasons. Absent if the response is
	// complete.
	Unread []string `json:"unread,omitempty"`
}

// Source is an object that a workload could select.
type Source struct {
	catalog.Ref
	State   status.State    `json:"state"`
	Message string          `json:"message,omitempty"` // reason why the object is rejected or not selected
	Jobs    []string        `json:"jobs,omitempty"`    // job_name of each generated job
	Targets *preview.Counts `json:"targets,omitempty"` // number of targets by state; absent if unknown
}

// Rollout lists the pods of a workload and the configuration that they run.
type Rollout struct {
	Workload catalog.Ref  `json:"workload"`
	Pods     []RolloutPod `json:"pods"`
	Part
	// Unread lists what could not be read and is therefore missing, with the reasons. Absent if the response is
	// complete.
	Unread []string `json:"unread,omitempty"`
}

// RolloutPod is a pod of a workload.
type RolloutPod struct {
	status.Pod
	Shard    int       `json:"shard"` // number of the shard, starting with 0; -1 if its StatefulSet is obsolete
	Replica  int       `json:"replica"`
	Node     string    `json:"node,omitempty"`     // absent until the pod is scheduled
	Revision string    `json:"revision,omitempty"` // value of the label controller-revision-hash
	Since    time.Time `json:"since,omitzero"`     // start time of the pod in RFC 3339 format; absent until it is started
	// Loaded is the hash of the configuration that the pod was last seen to run, comparable with the field wanted.
	// Absent if unknown.
	Loaded string `json:"loaded,omitempty"`
	// LastReload is the time when the server in the pod last loaded a configuration, in RFC 3339 format. Absent if
	// unknown.
	LastReload time.Time `json:"lastReload,omitzero"`
	// Targets is the number of targets that the shard of the pod scrapes. Absent if unknown.
	Targets *int `json:"targets,omitempty"`
}

// ConfigQuery selects sections of a configuration.
type ConfigQuery struct {
	Page // Filter: a part of the name of a job or of an object
}

// Config is the generated configuration of a workload with credentials redacted.
type Config struct {
	Workload catalog.Ref     `json:"workload"`
	Sections []ConfigSection `json:"sections"`
	Part
	// Unread lists the reasons why parts of the configuration are missing. Absent if the response is complete.
	Unread []string `json:"unread,omitempty"`
}

// ConfigSection is a part of the configuration that is generated from one object.
type ConfigSection struct {
	// Name is a top-level key of the configuration, or "scrape_configs/JOB".
	Name string `json:"name"`
	// Object is the object from which the section is generated. Absent if that is the workload itself.
	Object catalog.Ref `json:"object,omitzero"`
	Text   string      `json:"text"` // YAML
	// Origins maps line numbers of the text, starting with 1, to the field, or rule of the operator, from which the
	// relabel step in that line is generated.
	Origins map[int]string `json:"origins,omitempty"`
}
