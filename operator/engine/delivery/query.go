package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// Content is the content that a pod should have on disk.
type Content struct {
	// Config is the SHA-256 in hex of the compressed configuration, empty if the operator does not
	// manage it.
	Config string
	// Dirs maps watched directories, such as those of rules and templates, to the checksums of
	// their files as computed by volume.SumFiles.
	Dirs map[string]string
}

// Since returns the files and directories that differ from an earlier content. The path of the
// configuration is empty.
func (c Content) Since(before Content) map[string]string {
	out := map[string]string{}
	if c.Config != before.Config {
		out[""] = c.Config
	}
	for path, sum := range c.Dirs {
		if before.Dirs[path] != sum {
			out[path] = sum
		}
	}
	return out
}

// Wanted is a content and the time of its write.
type Wanted struct {
	Content
	// Since is the time at which the operator wrote the content or, if Before is set, found it
	// already written.
	Since  time.Time
	Before bool
}

// Pod holds the endpoints of a pod's reloaders and its server.
type Pod struct {
	IP     string
	Scheme string // "http" or "https"
	Ports  []int  // ports of the reloaders, config-reloader first
	// ServerPort is the port of the server. The server reports its last load at the path
	// RuntimeInfo (Prometheus) or Metrics (Alertmanager); if both are empty, it does not.
	ServerPort           int
	RuntimeInfo, Metrics string
}

// Answer is whether a pod has a content on its disk.
type Answer int

const (
	Unknown   Answer = iota // the pod cannot be queried or does not report it
	Confirmed               // it has the content
	Missing                 // it has another content
)

// Finding is the result of querying a pod.
type Finding struct {
	Outcome
	Disk Answer
	// OnDisk is the time at which the pod's reloaders have found the content on the disk, zero if
	// they do not report it.
	OnDisk time.Time
	// Reload is the time of the last successful reload of a server in the pod, zero if unknown.
	Reload time.Time
	// Recent are the last changes that the pod's reloaders report.
	Recent []reload.Recent
}

// maxAnswer bounds the response size in bytes.
const maxAnswer = 1 << 20

// client does not keep connections alive because pods are queried rarely. Responses contain only
// hashes and times that the operator already has, so skipping TLS verification exposes nothing.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	},
}

// reply is the response of one port.
type reply struct {
	port   int
	report reload.Report
	err    error
}

// Query queries all reloaders of a pod concurrently for the state of a content and, if none of them
// reports contents, falls back to other sources about loads. Each request is limited to limit.
// inTime is false if a request timed out, in which case the finding is not final.
func Query(ctx context.Context, pod Pod, want Wanted, limit time.Duration) (f Finding, inTime bool) {
	replies := make([]reply, len(pod.Ports))
	var wg sync.WaitGroup
	for i, port := range pod.Ports {
		wg.Go(func() {
			r := &replies[i]
			r.port = port
			c, err := pod.get(ctx, limit, port, "/api/v1/applied", func(body io.Reader) error {
				text, err := io.ReadAll(body) // a decoder scans white space again after each read
				if err != nil {
					return err
				}
				return json.NewDecoder(bytes.NewReader(text)).Decode(&r.report)
			})
			if r.err = err; err == nil {
				c.convert(&r.report)
			}
		})
	}
	wg.Wait()
	inTime = true
	reports := false
	for _, r := range replies {
		inTime = inTime && !timedOut(r.err)
		reports = reports || r.err == nil
	}
	switch {
	case reports:
		return findingOf(replies, want.Content), inTime
	case !inTime && limit < slowLimit:
		return Finding{}, false // everything is queried again with a longer limit
	}
	l := queryLoads(ctx, pod, replies, limit)
	inTime = inTime && !timedOut(l.reloaderErr) && !timedOut(l.serverErr)
	last, _, _ := l.last()
	return Finding{Outcome: outcomeOfLoads(l, want, time.Now()), Reload: last}, inTime
}

// statusError is the status code of a response other than 200.
type statusError int

func (e statusError) Error() string { return "answered " + strconv.Itoa(int(e)) }

func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// get passes the response body to decode, and returns the clock of the pod.
func (p Pod) get(ctx context.Context, limit time.Duration, port int, path string, decode func(io.Reader) error) (c clock, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	url := p.Scheme + "://" + net.JoinHostPort(p.IP, strconv.Itoa(port)) + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return c, err
	}
	sent := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		c = clockOf(date, sent, time.Now())
	}
	if resp.StatusCode != http.StatusOK {
		return c, statusError(resp.StatusCode)
	}
	if err := decode(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}
