package promapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/internal/jsonstream"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

const (
	// timeout of a request to a pod.
	timeout = 30 * time.Second
	// maxAnswer is the maximum size of a response in bytes (some 50,000 targets), maxValue the maximum
	// size of one target in it.
	maxAnswer = 128 << 20
	maxValue  = 1 << 20
	// noJob is a name that no job has: a filter by it returns no dropped targets but the counts of
	// all jobs.
	noJob = "-"
)

// Cluster provides access to pods.
type Cluster struct {
	// Kube has the permissions of the caller. It must not follow redirects: see [Client].
	Kube kubernetes.Interface
}

// Server is a Prometheus in a pod.
type Server struct {
	Namespace, Pod string
	// Scheme is http or https.
	Scheme string
	Port   int
	// Prefix of its paths; may be empty.
	Prefix string
}

// Target is a target that a server scrapes.
type Target struct {
	Job string `json:"scrapePool"`
	URL string `json:"scrapeUrl"`
	// Labels of its series.
	Labels map[string]string `json:"labels"`
	// Health is up, down or unknown.
	Health string `json:"health"`
	// LastError is the reason why it is down, empty otherwise.
	LastError string `json:"lastError"`
	// LastScrape is the time of the last scrape, zero before the first one; Duration is how long it
	// took, in seconds.
	LastScrape time.Time `json:"lastScrape"`
	Duration   float64   `json:"lastScrapeDuration"`
}

// Answer has the targets of a server.
type Answer struct {
	Targets []Target
	// Dropped is the number of targets dropped by relabeling, by job; nil when the server does not
	// report it.
	Dropped map[string]int
	// Err is why the targets are unknown; nil on success.
	Err error
}

// Targets requests the targets of a server.
func (c Cluster) Targets(ctx context.Context, s Server) (out Answer) {
	var dropped struct {
		Data struct {
			Dropped map[string]int `json:"droppedTargetCounts"`
		} `json:"data"`
	}
	err := c.Active(ctx, s, NewAllowance(maxAnswer), func(t Target) { out.Targets = append(out.Targets, t) })
	if err == nil {
		err = c.get(ctx, s, NewAllowance(maxAnswer), map[string]string{"state": "dropped", "scrapePool": noJob}, func(body io.Reader) error {
			return jsonstream.New(body, jsonstream.Limits{Text: math.MaxInt64, Value: maxAnswer}).Decode(&dropped)
		})
	}
	if err != nil {
		return Answer{Err: err}
	}
	out.Dropped = dropped.Data.Dropped
	return out
}

// Active requests the scraped targets of a server and calls each with one after the other, so that
// an answer takes little memory. The allowance may be shared with other servers.
//
// Errors: human-readable; each may have been called for some targets.
func (c Cluster) Active(ctx context.Context, s Server, allowance *Allowance, each func(Target)) error {
	return c.get(ctx, s, allowance, map[string]string{"state": "active"}, func(body io.Reader) error {
		from := jsonstream.New(body, jsonstream.Limits{Text: math.MaxInt64, Value: maxValue})
		target := func() error {
			var t Target
			if err := from.Decode(&t); err != nil {
				return err
			}
			t.LastError = withoutURL(t.LastError)
			each(t)
			return nil
		}
		return in(from, "data", func() error {
			return in(from, "activeTargets", func() error { return from.Array(target) })
		})
	})
}

// get requests the targets of a server and reads the response.
func (c Cluster) get(ctx context.Context, s Server, allowance *Allowance, query map[string]string, read func(body io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := c.Kube.CoreV1().Pods(s.Namespace).ProxyGet(s.Scheme, s.Pod, strconv.Itoa(s.Port), path.Join("/", s.Prefix, "api/v1/targets"), query).Stream(ctx)
	if err != nil {
		return s.reason(err)
	}
	defer func() { _ = body.Close() }()
	err = read(meteredReader{body, allowance})
	switch {
	case errors.Is(err, errLarge):
		return fmt.Errorf("too much is answered, more than %d MiB", allowance.most>>20)
	case errors.Is(err, jsonstream.ErrTooLarge):
		return errValue
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return errTimeout
	case err != nil:
		return fmt.Errorf("what answers on port %d is not the API of Prometheus", s.Port)
	}
	return nil
}

var errTimeout = errors.New("it did not answer in time")

// reason returns a human-readable reason why a pod does not respond.
func (s Server) reason(err error) error {
	status, is := errors.AsType[*apierrors.StatusError](err)
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not get pods/proxy in namespace %s; ask for the verb get", s.Namespace)
	case apierrors.IsUnauthorized(err):
		return errors.New("it wants credentials, or the API server does not accept yours; none are sent to pods")
	case apierrors.IsNotFound(err) && is && status.ErrStatus.Details != nil && status.ErrStatus.Details.Name == s.Pod && !isProxied(status):
		return errors.New("the pod does not exist")
	case apierrors.IsNotFound(err):
		return fmt.Errorf("there is no API of Prometheus at %s://POD:%d%s", s.Scheme, s.Port, path.Join("/", s.Prefix, "api/v1/targets"))
	case errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err):
		return errTimeout
	case apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err):
		return fmt.Errorf("the API server does not reach port %d of it by %s: %.200s", s.Port, s.Scheme, err.Error())
	}
	return fmt.Errorf("ask through the API server: %.200s", err.Error())
}

// isProxied reports whether an error comes from the pod and not from the API server. The client
// marks it as an unexpected response.
func isProxied(err *apierrors.StatusError) bool {
	for _, c := range err.ErrStatus.Details.Causes {
		if c.Type == "UnexpectedServerResponse" {
			return true
		}
	}
	return false
}

// requestURL matches the prefix of request errors.
var requestURL = lazyregexp.New(`^\w+ "[^"]*": `)

// withoutURL returns an error without the URL, which may contain credentials.
func withoutURL(text string) string { return requestURL.ReplaceAllString(text, "") }
