package targets

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// silence is the maximum time without a line from the server, which sends a ping every 10 s.
	silence = 30 * time.Second
	// firstPause and longestPause limit the time between two attempts.
	firstPause, longestPause = 500 * time.Millisecond, 15 * time.Second
	// patience is how long a list without confirmation protects against leaders with a lower number. The number of a
	// leader comes from its clock, which may have been wrong.
	patience = 10 * time.Minute
	// saveInterval is the minimum time between two writes of the file, unless a report needs one.
	saveInterval = 5 * time.Second
	// repeat is the minimum time between two log messages about the same error.
	repeat = 5 * time.Minute
	// maxReply limits how much of an error response is read.
	maxReply = 512
)

// Options configure a [Client].
type Options struct {
	// Server is the URL of the discovery server, without path.
	Server *url.URL
	// TokenFile and CAFile are reread for each connection.
	TokenFile, CAFile string
	// File keeps the list across restarts.
	File   string
	Limits Limits
	// Report is the interval of reports to the server; 0 disables them, and inventories too.
	Report time.Duration
	// Inventory is the interval of inventories after the server has requested the first one; 0: only on request.
	Inventory time.Duration
	// Prometheus is the server whose targets are reported.
	Prometheus Prometheus
	// OnUpdate is called after an update of the list; may be nil.
	OnUpdate func()

	Registerer prometheus.Registerer
	Logger     *slog.Logger
}

// Client keeps the list of targets current. Call New, Load and then Run; ServeHTTP serves the list
// from then on.
type Client struct {
	opts    Options
	list    list
	pack    *packer
	metrics *metrics
	changed chan struct{} // the list is not in the file yet
	started time.Time
	open    func(ctx context.Context, u *url.URL) (*http.Response, error)
	send    func(ctx context.Context, u *url.URL, header http.Header, body []byte) (*http.Response, error)

	reporter reporter

	storing sync.Mutex
	failing bool // the last write of the file failed

	// of the last attempts
	failures int  // since the last confirmation
	full     bool // request a full list
	logged   string
	loggedAt time.Time
}

// New returns a client without a list.
func New(o Options) *Client {
	c := &Client{opts: o, pack: newPacker(), changed: make(chan struct{}, 1), started: time.Now()}
	c.metrics = newMetrics(o.Registerer, &c.list, c.started)
	c.open, c.send = c.connect, c.sendBody
	c.reporter = reporter{list: &c.list, every: o.Report, prometheus: o.Prometheus, log: o.Logger, watching: newWatching(), seed: maphash.MakeSeed(), boot: uint64(c.started.UnixMilli())}
	return c
}

// Load reads the file. Without a usable one, the list is unknown until the server sends it.
func (c *Client) Load() {
	found, err := c.list.load(c.opts.File, c.opts.Limits, c.pack)
	v, jobs, _, at := c.list.size()
	switch {
	case err != nil:
		c.metrics.errors.WithLabelValues(string(Disk)).Inc()
		c.opts.Logger.Warn("List of targets on disk is unusable, waiting for the discovery server", "err", err)
	case found:
		c.opts.Logger.Info("List of targets read from disk", "file", c.opts.File, "version", v.String(), "jobs", jobs, "age", time.Since(at).Round(time.Second).String())
	}
}

// Run receives the list until ctx ends.
func (c *Client) Run(ctx context.Context) {
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { c.keepSaved(ctx) })
	if c.opts.Report > 0 {
		others.Go(func() { c.keepReported(ctx) })
	}
	for ctx.Err() == nil {
		c.metrics.connections.Inc()
		err := c.stream(ctx)
		c.metrics.connected.Set(0)
		if ctx.Err() != nil {
			return
		}
		c.failures++
		c.full = reasonOf(err) == Mismatch
		c.logError(err)
		pause(ctx, c.pauseAfter(err))
	}
}

// stream makes one connection and processes its lines until it ends.
func (c *Client) stream(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watchdog := time.AfterFunc(silence, func() {
		stop(failf(Silent, "the discovery server has sent nothing for %s", silence))
	})
	defer watchdog.Stop()
	err := c.receive(ctx, func() { watchdog.Reset(silence) })
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (c *Client) receive(ctx context.Context, heard func()) error {
	resp, err := c.request(ctx)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := io.Reader(bufio.NewReader(resp.Body))
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return failf(Unreachable, "read the list of targets: %w", err)
		}
	}
	c.metrics.connected.Set(1)
	c.reporter.watching.connect()
	defer c.reporter.watching.disconnect()
	in, to := newReader(body, c.opts.Limits, c.pack), receiver{list: &c.list, limits: c.opts.Limits, oldest: c.oldestLeader()}
	for {
		m, err := in.next()
		if err != nil {
			return fmt.Errorf("read the list of targets: %w", err)
		}
		heard()
		now := time.Now()
		changed, current, err := to.take(m, now)
		if err != nil {
			return err
		}
		if changed {
			v, _ := c.list.current()
			to.oldest = v.leader
			c.updated(m)
		}
		c.listen(m)
		if current {
			c.failures, c.logged = 0, ""
			c.list.confirm(now)
		}
	}
}

// listen receives the requests of the server for reports and inventories.
func (c *Client) listen(m message) {
	switch {
	case m.wrong != nil:
		c.opts.Logger.Warn("The discovery server sent an invalid request for reports of targets", "err", m.wrong)
	case m.watch != nil:
		_, jobs := c.list.snapshot()
		c.reporter.watching.set(*m.watch, jobs)
	case m.ask == targetreport.AskInventory:
		c.reporter.watching.requestInventory()
	}
}

// oldestLeader returns the lowest leader number that is accepted.
func (c *Client) oldestLeader() uint64 {
	v, _, _, confirmed := c.list.size()
	if confirmed.Before(c.started) {
		confirmed = c.started
	}
	if time.Since(confirmed) > patience {
		return 0
	}
	return v.leader
}

// updated publishes a new list.
func (c *Client) updated(m message) {
	v, jobs, packed, _ := c.list.size()
	c.metrics.updates.Inc()
	if c.reporter.watching.open() {
		_, all := c.list.snapshot()
		c.reporter.watching.follow(all)
	}
	c.opts.Logger.Debug("List of targets updated", "version", v.String(), "jobs", jobs, "bytes", packed)
	select {
	case c.changed <- struct{}{}:
	default:
	}
	if c.opts.OnUpdate != nil {
		c.opts.OnUpdate()
	}
}

// connect sends the request for the stream. Token and CA are read each time.
func (c *Client) connect(ctx context.Context, u *url.URL) (*http.Response, error) {
	client := reload.ClientOptions{Timeout: silence, CAFile: c.opts.CAFile, BearerTokenFile: c.opts.TokenFile}
	return client.Get(ctx, u, http.Header{"Accept": {"application/x-ndjson"}, "Accept-Encoding": {"gzip"}})
}

// endpoint returns the URL of a path of the discovery server.
func (c *Client) endpoint(path string) *url.URL {
	u := *c.opts.Server
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return &u
}

// request opens the stream.
//
// Errors: no connection, or another status than 200.
func (c *Client) request(ctx context.Context) (*http.Response, error) {
	u := c.endpoint("/v1/assignments")
	have, _ := c.list.current()
	if c.full {
		have = Version{}
	}
	u.RawQuery = url.Values{"have": {have.String()}}.Encode()
	resp, err := c.open(ctx, u)
	if err != nil {
		return nil, failf(Unreachable, "connect to the discovery server: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp, nil
}

// pauseAfter returns how long to wait before the next attempt.
func (c *Client) pauseAfter(err error) time.Duration {
	wait := min(firstPause<<min(c.failures-1, 10), longestPause)
	switch status, is := errors.AsType[*statusError](err); {
	case is && status.after > 0:
		wait = status.after
	case reasonOf(err) == TooLarge:
		wait = longestPause // the same list would arrive again
	}
	return max(firstPause, wait-rand.N(wait/4+1))
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// logError logs and counts an error. It logs the same error again only after a while.
func (c *Client) logError(err error) {
	c.metrics.errors.WithLabelValues(string(reasonOf(err))).Inc()
	level := slog.LevelWarn
	if now := time.Now(); err.Error() != c.logged || now.Sub(c.loggedAt) >= repeat {
		c.logged, c.loggedAt = err.Error(), now
	} else {
		level = slog.LevelDebug
	}
	c.opts.Logger.Log(context.Background(), level, "No updates of the list of targets, keeping the last one", "reason", string(reasonOf(err)), "err", err)
}
