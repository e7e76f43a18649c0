package promapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
)

const (
	// timeout of a request to a pod.
	timeout = 30 * time.Second
	// maxAnswer is the maximum size of a response in bytes: some 50,000 targets.
	maxAnswer = 128 << 20
	// noJob is a name that no job has: a filter by it returns no dropped targets but the counts of
	// all jobs.
	noJob = "-"
)

// Cluster provides access to pods.
type Cluster struct {
	// Kube has the permissions of the caller.
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
	// LastError is why it is down; empty when it is not.
	LastError string `json:"lastError"`
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

// Ask requests the targets of a server.
func (c Cluster) Ask(ctx context.Context, s Server) (out Answer) {
	var active, dropped struct {
		Data struct {
			Targets []Target       `json:"activeTargets"`
			Dropped map[string]int `json:"droppedTargetCounts"`
		} `json:"data"`
	}
	if err := c.get(ctx, s, map[string]string{"state": "active"}, &active); err != nil {
		return Answer{Err: err}
	}
	out.Targets = active.Data.Targets
	for i := range out.Targets {
		out.Targets[i].LastError = withoutURL(out.Targets[i].LastError)
	}
	if err := c.get(ctx, s, map[string]string{"state": "dropped", "scrapePool": noJob}, &dropped); err != nil {
		return Answer{Err: err}
	}
	out.Dropped = dropped.Data.Dropped
	return out
}

// get decodes a response of the Prometheus API.
func (c Cluster) get(ctx context.Context, s Server, query map[string]string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := c.Kube.CoreV1().Pods(s.Namespace).ProxyGet(s.Scheme, s.Pod, strconv.Itoa(s.Port), path.Join("/", s.Prefix, "api/v1/targets"), query).Stream(ctx)
	if err != nil {
		return s.reason(err)
	}
	defer func() { _ = body.Close() }()
	limited := &io.LimitedReader{R: body, N: maxAnswer}
	err = json.NewDecoder(limited).Decode(into)
	switch {
	case err != nil && limited.N <= 0:
		return fmt.Errorf("it answers with more than %d MiB", maxAnswer>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return errTimeout
	case err != nil:
		return fmt.Errorf("what answers on port %d is not the API of Prometheus", s.Port)
	}
	return nil
}

var errTimeout = fmt.Errorf("it did not answer within %s", timeout)

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
var requestURL = regexp.MustCompile(`^\w+ "[^"]*": `)

// withoutURL returns an error without the URL, which may contain credentials.
func withoutURL(text string) string { return requestURL.ReplaceAllString(text, "") }
