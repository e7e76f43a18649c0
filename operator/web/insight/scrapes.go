package insight

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scrapes is what the running servers of a workload report about their targets.
type Scrapes struct {
	At   time.Time
	Pods []ScrapingPod
	of   map[scraped]Scrape
}

// ScrapingPod has the numbers of targets of a server.
type ScrapingPod struct {
	Pod               string
	Up, Down, Unknown int
	Error             string // why its targets are not known
}

// Scrape is the last scrape of a target.
type Scrape struct {
	Health string // up, down or unknown; empty if no server has the target
	Error  string // why it is down
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
		to.Unknown++
	}
	if s.of == nil {
		s.of = map[scraped]Scrape{}
	}
	if key := (scraped{job, url}); worse(is.Health) > worse(s.of[key].Health) {
		s.of[key] = Scrape{is.Health, brief(is.Error)}
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

// proxy is the permission to ask a server through the API server.
var proxy = schema.GroupResource{Resource: "pods/proxy"}

// scrapes returns the source of the health of targets; nil if there is none.
func (c *Cluster) scrapes() ScrapeSource {
	if s, is := c.Parts.Targets.(ScrapeSource); is && s.Asks() {
		return s
	}
	return nil
}

// Scrapes implements [Answers].
func (c *Cluster) Scrapes(ctx context.Context, r Rights, w Object) (*Scrapes, error) {
	from := c.scrapes()
	if from == nil {
		return nil, apierrors.NewServiceUnavailable("the operator has no permission to ask servers for their targets; operator ui asks with yours")
	}
	if !asking(ctx, r).mayAny("get", proxy, w.Namespace) {
		return nil, apierrors.NewForbidden(proxy, w.Name, nil)
	}
	return from.Scrapes(ctx, w)
}
