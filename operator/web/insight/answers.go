package insight

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// Answers are the requests about a cluster. The caller of a method checks whether the client may
// get the requested object. Rights decide on data from other namespaces.
//
// Errors are API errors (package apierrors): not found, bad request with the name of the parameter,
// unavailable until caches are synced.
type Answers interface {
	// Overview returns workloads and the problems that need attention.
	Overview(ctx context.Context, r access.Rights, q OverviewQuery) (*Overview, error)
	// Workload returns details of a workload: conditions, pods, Events and counts of selected
	// objects.
	Workload(ctx context.Context, r access.Rights, w Object) (*Workload, error)
	// Sources returns the objects that a workload could select, with their state.
	Sources(ctx context.Context, r access.Rights, w Object, q SourceQuery) (*Sources, error)
	// Rollout returns the pods of a workload and the configuration they run.
	Rollout(ctx context.Context, r access.Rights, w Object, p Page) (*Rollout, error)
	// Config returns the configuration of a workload in sections, with credentials redacted.
	Config(ctx context.Context, r access.Rights, w Object, q ConfigQuery) (*Config, error)
	// Explain reports which workloads use an object, and why.
	Explain(ctx context.Context, r access.Rights, o Object) (*explain.Report, error)
	// Objects returns the objects of a kind that the caller may list, with their state.
	Objects(ctx context.Context, r access.Rights, q ObjectQuery) (*ObjectList, error)
	// Similar returns objects for which an object that does not exist may be a misspelling, at most 5.
	Similar(ctx context.Context, r access.Rights, o Object) ([]catalog.Ref, error)
	// Manifest returns the YAML of an object that workloads select, with credentials redacted or as
	// its author wrote it.
	Manifest(ctx context.Context, o Object, masked bool) (string, error)
	// Targets returns the targets of a workload, of an object, or of a pod.
	Targets(ctx context.Context, r access.Rights, q TargetQuery) (*Targets, error)
	// Target returns one target with every relabel step. source is the object in which it was
	// found, in the form of [targets.Source.Path]. It may be empty, which requires a search through
	// all targets of the job.
	Target(ctx context.Context, r access.Rights, w Object, job, id, source string) (*Trace, error)
	// Scrapes queries the servers of a workload for the health of at least some of its targets.
	Scrapes(ctx context.Context, r access.Rights, w Object, of []preview.Target) (*Scrapes, error)
	// Preview returns the targets that would be scraped if manifests were applied. It stores
	// nothing.
	Preview(ctx context.Context, r access.Rights, body []byte) (*preview.Report, error)
	// Reshard returns what another number of shards would change for a workload.
	Reshard(ctx context.Context, r access.Rights, w Object, shards int) (*preview.Resharding, error)
	// Routes returns the routing tree of an Alertmanager, and the path of an alert through it.
	Routes(ctx context.Context, r access.Rights, alertmanager types.NamespacedName, labels []string) (*Routes, error)
	// Changes calls each with every change until the context ends. It may skip a change if the
	// object has changed again since.
	Changes(ctx context.Context, each func(readers.Change)) error
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
