package targets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/jsonstream"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

const (
	// serverTimeout limits a request to Prometheus as a whole.
	serverTimeout = 30 * time.Second
	// maxAnswer and maxScraped limit the size of a response, and that of a target in it, in bytes. The
	// response is read target by target.
	maxAnswer  = 512 << 20
	maxScraped = 4 << 20
)

// Prometheus is the server beside config-reloader.
type Prometheus struct {
	// Targets, Query and Metrics are the URLs of /api/v1/targets, /api/v1/query and /metrics; nil if they are unknown.
	Targets, Query, Metrics *url.URL
	// Client has the credentials, which reloads need, too.
	Client reload.ClientOptions
}

// activeTarget is a target of Prometheus.
type activeTarget struct {
	Pool       string `json:"scrapePool"`
	Discovered struct {
		Address string `json:"__address__"`
		Job     string `json:"job"`
		URL     string `json:"__meta_url"`
	} `json:"discoveredLabels"`
	// Labels is the JSON of the labels after relabeling, which are those of the series of the target.
	Labels json.RawMessage `json:"labels"`
	Health string          `json:"health"`
	// LastScrape is the time at which the last scrape began.
	LastScrape time.Time `json:"lastScrape"`
}

// job returns the name of the job. Early versions have no scrapePool in dropped targets.
func (s *activeTarget) job() string {
	if s.Pool != "" {
		return s.Pool
	}
	return s.Discovered.Job
}

// active calls each for the targets that Prometheus scrapes.
func (p Prometheus) active(ctx context.Context, each func(activeTarget) error) error {
	return p.targets(ctx, url.Values{"state": {"active"}}, "activeTargets", each)
}

// activeOf is like active for one job. Versions before 2.42 also pass the targets of other jobs.
func (p Prometheus) activeOf(ctx context.Context, job string, each func(activeTarget) error) error {
	return p.targets(ctx, url.Values{"state": {"active"}, "scrapePool": {job}}, "activeTargets", each)
}

// dropped calls each for targets of a job that relabelings drop in Prometheus. Versions before 2.42 also pass the
// targets of other jobs.
func (p Prometheus) dropped(ctx context.Context, job string, each func(activeTarget) error) error {
	return p.targets(ctx, url.Values{"state": {"dropped"}, "scrapePool": {job}}, "droppedTargets", each)
}

func (p Prometheus) targets(ctx context.Context, query url.Values, list string, each func(activeTarget) error) error {
	return p.query(ctx, p.Targets, query, list, func(in *jsonstream.Reader) error {
		var one activeTarget
		if err := in.Decode(&one); err != nil {
			return err
		}
		return each(one)
	})
}

// samples calls each for the result of an instant query.
func (p Prometheus) samples(ctx context.Context, query string, each func(labels map[string]string, value float64) error) error {
	return p.query(ctx, p.Query, url.Values{"query": {query}}, "result", func(in *jsonstream.Reader) error {
		var one struct {
			Metric map[string]string `json:"metric"`
			Value  [2]any            `json:"value"`
		}
		if err := in.Decode(&one); err != nil {
			return err
		}
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		return each(one.Metric, value)
	})
}

// answerError is a response other than 200.
type answerError int

func (e answerError) Error() string {
	return fmt.Sprintf("it answered %d %s", int(e), http.StatusText(int(e)))
}

// refuses reports whether Prometheus would respond to a repeated request with the same error.
func refuses(err error) bool {
	code, _ := errors.AsType[answerError](err)
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}

func (p Prometheus) query(ctx context.Context, endpoint *url.URL, query url.Values, list string, each func(*jsonstream.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	u := *endpoint
	u.RawQuery = query.Encode()
	resp, err := p.Client.Get(ctx, &u, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return fmt.Errorf("request the targets of Prometheus: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("request the targets of Prometheus: %w", answerError(resp.StatusCode))
	}
	if err := decodeAnswer(resp.Body, list, each); err != nil {
		return fmt.Errorf("read the targets of Prometheus: %w", err)
	}
	return nil
}

// decodeAnswer reads {"data":{list:[VALUE,…],…},…} with at most one value in memory, which each decodes. Errors: those
// of each and of the connection; another form; a limit is exceeded.
func decodeAnswer(from io.Reader, list string, each func(*jsonstream.Reader) error) error {
	in := jsonstream.New(from, jsonstream.Limits{Text: maxAnswer, Value: maxScraped})
	return in.Object(func(key string) error {
		if key != "data" {
			return in.Skip()
		}
		return in.Object(func(key string) error {
			if key != list {
				return in.Skip()
			}
			return in.Array(func() error { return each(in) })
		})
	})
}
