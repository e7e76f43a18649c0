package insight

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Answers are the requests about a cluster. The caller of a method checks whether the client may
// get the requested object. Rights decide on data from other namespaces.
//
// Errors are API errors (package apierrors): not found, bad request with the name of the parameter,
// unavailable until caches are synced.
type Answers interface {
	// Overview returns all workloads and the problems that need attention.
	Overview(ctx context.Context, r Rights, p Page) (*Overview, error)
	// Workload returns details of a workload: conditions, pods, Events and counts of selected
	// objects.
	Workload(ctx context.Context, r Rights, w Object) (*Workload, error)
	// Sources returns the objects that a workload could select, with their state.
	Sources(ctx context.Context, r Rights, w Object, q SourceQuery) (*Sources, error)
	// Rollout returns the pods of a workload and the configuration they run.
	Rollout(ctx context.Context, r Rights, w Object, p Page) (*Rollout, error)
	// Config returns the configuration of a workload in sections, with credentials redacted.
	Config(ctx context.Context, r Rights, w Object, q ConfigQuery) (*Config, error)
	// Explain reports which workloads use an object, and why.
	Explain(ctx context.Context, r Rights, o Object) (*explain.Report, error)
	// Targets returns the targets of a workload, of an object, or of a pod.
	Targets(ctx context.Context, r Rights, q TargetQuery) (*Targets, error)
	// Target returns one target with every relabel step. source is the object in which it was
	// found, in the form of [targets.Source.Path]. It may be empty, which requires a search through
	// all targets of the job.
	Target(ctx context.Context, r Rights, w Object, job, id, source string) (*Trace, error)
	// Preview returns the targets that would be scraped if manifests were applied. It stores
	// nothing.
	Preview(ctx context.Context, r Rights, body []byte) (*preview.Report, error)
	// Routes returns the routing tree of an Alertmanager, and the path of an alert through it.
	Routes(ctx context.Context, r Rights, alertmanager types.NamespacedName, labels []string) (*Routes, error)
	// Changes calls each with every change until the context ends. It may skip a change if the
	// object has changed again since.
	Changes(ctx context.Context, each func(readers.Change)) error
}

// Rights are the permissions of the caller.
type Rights interface {
	// May reports whether the caller may do something in a namespace, "" for all.
	//
	// Errors: the permission check failed.
	May(ctx context.Context, verb string, of schema.GroupResource, namespace string) (bool, error)
}

// Object identifies the object of a request.
type Object struct {
	*catalog.Row
	types.NamespacedName
}

// Ref returns the reference used in responses and messages.
func (o Object) Ref() catalog.Ref {
	return catalog.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Page selects a page of a list.
type Page struct {
	// Filter is a substring of the requested names; empty for all.
	Filter string
	// Limit is the maximum number of rows; at least 1.
	Limit int
	// Continue is the token of the previous page; empty for the first page.
	Continue string
}

// Part is which part of a list an answer has.
type Part struct {
	// Continue (optional) asks for the next part.
	Continue string `json:"continue,omitempty"`
	// Total is the number of rows in all parts.
	Total int `json:"total"`
}

// Overview is the first page.
type Overview struct {
	// Attention is what calls for a person, the most urgent first; with a limit of its own.
	Attention      []Attention   `json:"attention"`
	AttentionTotal int           `json:"attentionTotal"`
	Workloads      []WorkloadRow `json:"workloads"`
	Part
	// Health counts all workloads that match, by their state.
	Health map[Health]int `json:"health"`
	// Unselected are the first objects that no workload selects, as far as that is known.
	Unselected      []catalog.Ref `json:"unselected"`
	UnselectedTotal int           `json:"unselectedTotal"`
	// Unread is what could not be read, each with the reason.
	Unread []string `json:"unread,omitempty"`
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
	InvalidOwner   Cause = "invalid"        // a workload has a spec that cannot be reconciled
	NotReconciled  Cause = "not-reconciled" // a workload is not reconciled yet, or that failed
	PodsBehind     Cause = "pods"           // pods are not ready, or do not run the configuration
	StuckRollout   Cause = "rollout"        // pods of an old revision stay
	NoTargets      Cause = "no-targets"     // an object is used and has none
	Unbalanced     Cause = "unbalanced"     // one shard has many more targets than the others
)

// Attention is one thing.
type Attention struct {
	Urgency  Urgency     `json:"urgency"`
	Cause    Cause       `json:"cause"`
	Workload catalog.Ref `json:"workload"`
	Object   catalog.Ref `json:"object,omitzero"` // empty when it is about the workload
	Message  string      `json:"message"`
	Fix      string      `json:"fix,omitempty"` // what to do, for people
}

// Health is the overall state of a workload.
type Health string

const (
	Good           Health = "good"
	NeedsAttention Health = "attention"
	Invalid        Health = "invalid"
	Unmanaged      Health = "not-managed" // by this operator
	Paused         Health = "paused"
	Unreconciled   Health = "not-reconciled" // yet
	PodsNotKnown   Health = "pods-unknown"   // nothing else calls for attention
)

// WorkloadRow is a line about a workload.
type WorkloadRow struct {
	catalog.Ref
	Version string `json:"version,omitempty"`
	State   Health `json:"state"`
	Good    bool   `json:"good"` // nothing calls for attention
	Message string `json:"message,omitempty"`
	Paused  bool   `json:"paused,omitempty"`
	Pods    int    `json:"pods"`
	Ready   int    `json:"ready"`
	// PodsUnknown says that the pods could not be read: Pods and Ready mean nothing.
	PodsUnknown bool `json:"podsUnknown,omitempty"`
	Accepted    int  `json:"accepted"` // objects
	Rejected    int  `json:"rejected"`
	// ConfigSince is when the configuration last changed; zero when that is not known.
	ConfigSince time.Time `json:"configSince,omitzero"`
	// Targets are nil where there are none to know, or nobody has looked yet.
	Targets *preview.Counts `json:"targets,omitempty"`
}

// Workload is the page of one.
type Workload struct {
	status.Report
	State       Health          `json:"state"`
	Version     string          `json:"version,omitempty"`
	Shards      int             `json:"shards,omitempty"`
	ConfigSince time.Time       `json:"configSince,omitzero"`
	Targets     *preview.Counts `json:"targets,omitempty"`
	// PerShard are the targets of each shard; absent when they are not known.
	PerShard []int `json:"perShard,omitempty"`
	// Counts are those of objects by kind and state. Objects of the report names some only.
	Counts    map[string]map[status.State]int `json:"counts"`
	Attention []Attention                     `json:"attention"`
}

// SourceQuery selects objects of a workload.
type SourceQuery struct {
	Page
	State status.State // empty for all
	Kind  string       // empty for all
}

// Sources are objects that a workload could select.
type Sources struct {
	Workload catalog.Ref          `json:"workload"`
	Counts   map[status.State]int `json:"counts"` // of all objects
	Items    []Source             `json:"items"`
	Part
	Unread []string `json:"unread,omitempty"`
}

// Source is one of them.
type Source struct {
	catalog.Ref
	State   status.State    `json:"state"`
	Message string          `json:"message,omitempty"` // why it is rejected, or not selected
	Jobs    []string        `json:"jobs,omitempty"`
	Targets *preview.Counts `json:"targets,omitempty"`
}

// Rollout is what the pods of a workload run.
type Rollout struct {
	Workload catalog.Ref  `json:"workload"`
	Pods     []RolloutPod `json:"pods"`
	Part
	Unread []string `json:"unread,omitempty"`
}

// RolloutPod is one pod.
type RolloutPod struct {
	status.Pod
	Shard    int       `json:"shard"`
	Replica  int       `json:"replica"`
	Node     string    `json:"node,omitempty"`
	Revision string    `json:"revision,omitempty"`
	Since    time.Time `json:"since,omitzero"` // its start
	// Loaded is the hash of the configuration that it was last seen to run, to compare with
	// wanted; empty when the operator does not know.
	Loaded string `json:"loaded,omitempty"`
	// LastReload is when a server in it last loaded a configuration; absent when the operator
	// does not know.
	LastReload time.Time `json:"lastReload,omitzero"`
	// Targets that its shard scrapes; nil when that is not known.
	Targets *int `json:"targets,omitempty"`
}

// ConfigQuery selects sections of a configuration.
type ConfigQuery struct {
	Page // Filter: a part of the name of a job or of an object
}

// Config is a configuration without credentials.
type Config struct {
	Workload catalog.Ref     `json:"workload"`
	Sections []ConfigSection `json:"sections"`
	Part
	// Unread is why there is less than all of it.
	Unread []string `json:"unread,omitempty"`
}

// ConfigSection is a part of the file that has one origin.
type ConfigSection struct {
	// Name is a top-level key, or "scrape_configs/JOB".
	Name string `json:"name"`
	// Object made it; empty for the workload itself.
	Object catalog.Ref `json:"object,omitzero"`
	Text   string      `json:"text"`
	// Origins are the fields that made relabel steps: line of the text, from 1 → field.
	Origins map[int]string `json:"origins,omitempty"`
}

// TargetQuery selects targets.
type TargetQuery struct {
	Page
	Of     Object               // a workload or an object that workloads select; empty for a pod
	Pod    types.NamespacedName // select the targets of this pod
	State  targets.State        // empty for all
	Reason string               // prefix of the origin of the relabel step that drops
	Job    string
	Shard  int // or preview.AllShards
}

// Targets are those that are asked for.
type Targets struct {
	Items  []preview.Target `json:"items"`
	Counts preview.Counts   `json:"counts"` // of all, whatever part is asked for
	Jobs   []JobCounts      `json:"jobs"`
	Part
	// AsOf is when any of them last changed.
	AsOf time.Time `json:"asOf"`
	// Synced is false while the cluster is still being read: there may be more.
	Synced bool     `json:"synced"`
	Notes  []string `json:"notes,omitempty"` // what is not known, and why
}

// JobCounts are the targets of a job.
type JobCounts struct {
	Workload catalog.Ref    `json:"workload"`
	Object   catalog.Ref    `json:"object"`
	Job      string         `json:"job"`
	Counts   preview.Counts `json:"counts"`
}

// Trace is a target and what each relabel step makes of it.
type Trace struct {
	Workload catalog.Ref    `json:"workload"`
	Object   catalog.Ref    `json:"object"`
	Target   preview.Target `json:"target"`
	Steps    []Step         `json:"steps"`
	// Manifest is the object, as it may be edited and tried; empty when it may not be shown.
	Manifest string `json:"manifest,omitempty"`
	// Also are other jobs that scrape the same URL.
	Also []catalog.Ref `json:"also,omitempty"`
}

// Step is one relabel step.
type Step struct {
	Origin  string            `json:"origin"` // the field that made it
	Rule    string            `json:"rule"`   // as YAML
	Added   map[string]string `json:"added,omitempty"`
	Changed map[string]string `json:"changed,omitempty"` // label → new value
	Removed []string          `json:"removed,omitempty"`
	Drops   bool              `json:"drops,omitempty"` // nothing goes on after it
}

// Routes is a routing tree.
type Routes struct {
	Alertmanager catalog.Ref `json:"alertmanager"`
	routing.Report
	// Tried says whether labels were given; else the tree is shown without a way.
	Tried  bool     `json:"tried"`
	Unread []string `json:"unread,omitempty"`
}
