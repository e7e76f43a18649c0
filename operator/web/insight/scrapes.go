package insight

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// Scrapes are the reports of the running servers of a workload about their targets.
type Scrapes struct {
	At   time.Time
	Pods []ScrapingPod
	of   map[scraped]Scrape
	only map[scraped]bool // targets to keep; nil for all
}

// NewScrapes returns scrapes that keep only those of some targets, besides the numbers of all.
func NewScrapes(only []preview.Target) *Scrapes {
	s := &Scrapes{only: map[scraped]bool{}}
	for _, t := range only {
		s.only[scraped{t.Job, t.URL}] = true
	}
	return s
}

// ScrapingPod has the numbers of targets of a server.
type ScrapingPod struct {
	Pod               string
	Shard             int    // meaningless if Node is not empty
	Node              string // of a pod that scrapes the targets on its node
	Up, Down, Unknown int
	Error             string // why its targets, or the rest of them, are not known
}

// Scrape is the last scrape of a target.
type Scrape struct {
	Health string // up, down or unknown; empty if no server has the target
	Error  string // why it is down
	Remedy string // usual fix of the error; empty if unknown
	At     time.Time
	Took   time.Duration
}

type scraped struct{ job, url string }

// Add adds a target of a server. url is as the caller may see it. Of several servers that scrape the
// same target, the worst result is kept.
func (s *Scrapes) Add(to *ScrapingPod, job, url string, is Scrape) {
	switch is.Health {
	case "up":
		to.Up++
	case "down":
		to.Down++
	default:
		is.Health = "unknown"
		to.Unknown++
	}
	if s.of == nil {
		s.of = map[scraped]Scrape{}
	}
	key := scraped{job, url}
	if (s.only == nil || s.only[key]) && worse(is.Health) > worse(s.of[key].Health) {
		is.Error, is.Remedy = brief(is.Error), promapi.Remedy(is.Error)
		s.of[key] = is
	}
}

func worse(health string) int {
	switch health {
	case "":
		return 0
	case "up":
		return 1
	case "down":
		return 3
	}
	return 2
}

// Of returns the last scrape of a target.
func (s *Scrapes) Of(job, url string) Scrape { return s.of[scraped{job, url}] }

// proxy is the permission to query a server through the API server.
var proxy = schema.GroupResource{Resource: "pods/proxy"}

// Acting is implemented by [access.Rights] with which servers can be queried for the caller.
type Acting interface {
	access.Rights
	// Servers returns access to servers with only the credentials of the caller, until release.
	//
	// Errors: 429 while there are too many requests.
	Servers(ctx context.Context) (of preview.HealthSource, release func(), err error)
}

// mayQuery reports whether the servers of a workload can be queried for the caller, and otherwise the reason if the
// caller lacks the permission.
func (c *Cluster) mayQuery(a *access.Checker, w catalog.Ref) (can bool, why string) {
	from, is := c.Parts.Targets.(ScrapeSource)
	if !is || !slices.Contains(preview.Kinds, catalog.Of(w.Kind)) {
		return false, ""
	}
	if _, acts := a.Rights.(Acting); !acts && !from.CanQuery() {
		return false, ""
	}
	before := len(a.Unread)
	switch may := a.MayResource("get", proxy, w.Namespace); {
	case may:
		return true, ""
	case len(a.Unread) > before:
		return false, a.Unread[before]
	}
	return false, "you need permission to get pods/proxy in namespace " + w.Namespace
}

// Scrapes implements [Answers].
func (c *Cluster) Scrapes(ctx context.Context, r access.Rights, w Object, of []preview.Target) (*Scrapes, error) {
	a := access.NewChecker(ctx, r)
	switch can, why := c.mayQuery(a, w.Ref()); {
	case len(a.Unread) > 0:
		return nil, apierrors.NewServiceUnavailable(a.Unread[0])
	case why != "":
		forbidden := apierrors.NewForbidden(proxy, w.Name, nil)
		forbidden.ErrStatus.Message = why
		return nil, forbidden
	case !can:
		return nil, apierrors.NewServiceUnavailable("there are no permissions to ask its servers with; operator ui asks with yours")
	}
	return c.Parts.Targets.(ScrapeSource).Scrapes(ctx, r, w, of)
}
