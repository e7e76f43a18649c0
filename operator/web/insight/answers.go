package insight

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

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
	// Overview returns workloads and the problems that need attention.
	Overview(ctx context.Context, r Rights, q OverviewQuery) (*Overview, error)
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
	// Objects returns the objects of a kind that the caller may list, with their state.
	Objects(ctx context.Context, r Rights, q ObjectQuery) (*ObjectList, error)
	// Similar returns objects for which an object that does not exist may be a misspelling, at most 5.
	Similar(ctx context.Context, r Rights, o Object) ([]catalog.Ref, error)
	// Manifest returns the YAML of an object that workloads select, with credentials redacted or as
	// its author wrote it.
	Manifest(ctx context.Context, o Object, masked bool) (string, error)
	// Targets returns the targets of a workload, of an object, or of a pod.
	Targets(ctx context.Context, r Rights, q TargetQuery) (*Targets, error)
	// Target returns one target with every relabel step. source is the object in which it was
	// found, in the form of [targets.Source.Path]. It may be empty, which requires a search through
	// all targets of the job.
	Target(ctx context.Context, r Rights, w Object, job, id, source string) (*Trace, error)
	// Scrapes asks the servers of a workload for the health of some of its targets at least.
	Scrapes(ctx context.Context, r Rights, w Object, of []preview.Target) (*Scrapes, error)
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

// Possible reports whether an object can have the namespace and the name. Requests for others need
// no access review, and pages show names in commands that users copy into a shell.
func (o Object) Possible() bool {
	return len(validation.IsDNS1123Label(o.Namespace)) == 0 && len(validation.IsDNS1123Subdomain(o.NamespacedName.Name)) == 0
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

// Part describes the returned part of a list.
type Part struct {
	// Continue is the token for the next page, to be passed as parameter "continue". Absent on the last page.
	Continue string `json:"continue,omitempty"`
	// Total is the number of items on all pages.
	Total int `json:"total"`
}

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
	// Asks is true if its servers can be asked for the health of their targets. AsksNot is the permission that the
	// caller lacks for that; empty if it is no permission.
	Asks    bool   `json:"-"`
	AsksNot string `json:"-"`
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

// ObjectQuery selects objects of a kind that workloads select.
type ObjectQuery struct {
	Page
	Row       *catalog.Row
	Namespace string       // empty for all
	State     status.State // empty for all
}

// ObjectList lists the objects of a kind.
type ObjectList struct {
	Kind   string               `json:"kind"`
	Counts map[status.State]int `json:"counts"` // number of objects by state, on all pages and independent of a filter by state
	Items  []ObjectRow          `json:"items"`
	Part
	// Unread lists what could not be read and is therefore missing, with the reasons. Absent if the response is
	// complete.
	Unread []string `json:"unread,omitempty"`
	// Namespaces lists namespaces with such objects that the caller may list, to suggest, at most 100.
	Namespaces []string `json:"-"`
}

// ObjectRow is the summary of an object.
type ObjectRow struct {
	catalog.Ref
	// State is rejected if a workload rejects the object, and otherwise accepted if a workload accepts it.
	State    status.State `json:"state"`
	Message  string       `json:"message,omitempty"`  // a workload that rejects it, and why
	Accepted int          `json:"accepted,omitempty"` // number of workloads that accept it
	Rejected int          `json:"rejected,omitempty"` // number of workloads that reject it
}

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
