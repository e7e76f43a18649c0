package delivery

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// loads is the information about loads from a pod whose reloaders do not report contents: the
// upstream reloader only has metrics, and the server reports its last load itself.
type loads struct {
	reloader    reloads
	reloaderErr error // error that made reloader unavailable
	server      reload.LoadState
	serverErr   error // error that made server unavailable
	clock       clock // of both, because they run on one node
}

// reloads holds the reload metrics of a config-reloader or a server.
type reloads struct {
	OK bool      // the last attempt succeeded
	At time.Time // time of the last success, zero before the first
}

// loadGauges are the names of two gauges: whether the last load succeeded, and the time of the last
// successful one.
type loadGauges struct{ ok, at string }

var (
	reloaderGauges = loadGauges{"reloader_last_reload_successful", "reloader_last_reload_success_timestamp_seconds"}
	serverGauges   = loadGauges{"alertmanager_config_last_reload_successful", "alertmanager_config_last_reload_success_timestamp_seconds"}
)

// kubeletDelay is the maximum time for a running kubelet to refresh a mounted volume and for a
// reloader to detect it.
const kubeletDelay = 3 * time.Minute

var errNoReloads = errors.New("no reload metrics")

// queryLoads queries a pod whose reloaders responded without a report. replies are these responses.
func queryLoads(ctx context.Context, pod Pod, replies []reply, limit time.Duration) (l loads) {
	l.reloaderErr, l.serverErr = errNoReloads, errNoReloads
	if len(replies) > 0 {
		l.reloaderErr = replies[0].err
	}
	ask := func(port int, path string, decode func(io.Reader) error) error {
		c, err := pod.get(ctx, limit, port, path, decode)
		if err == nil {
			l.clock = c
		}
		return err
	}
	if statusOf(l.reloaderErr) == http.StatusNotFound {
		l.reloaderErr = ask(pod.Ports[0], "/metrics", func(body io.Reader) (err error) {
			l.reloader, err = reloaderGauges.read(body)
			return err
		})
	}
	switch {
	case pod.RuntimeInfo != "":
		l.serverErr = ask(pod.ServerPort, pod.RuntimeInfo, func(body io.Reader) (err error) {
			l.server, err = reload.DecodeRuntimeInfo(body)
			return err
		})
	case pod.Metrics != "":
		l.serverErr = ask(pod.ServerPort, pod.Metrics, func(body io.Reader) error {
			last, err := serverGauges.read(body)
			l.server = reload.LoadState{OK: last.OK, At: last.At}
			return err
		})
	}
	return l
}

// read parses the two gauges, which have no labels, from the text format.
func (g loadGauges) read(body io.Reader) (r reloads, err error) {
	found := 0
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if name != g.ok && name != g.at {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		found++
		switch {
		case name == g.ok:
			r.OK = v == 1
		case v > 0:
			r.At = time.UnixMilli(int64(v * 1000))
		}
	}
	if err := lines.Err(); err != nil {
		return r, err
	}
	if found < 2 {
		return r, errNoReloads
	}
	return r, nil
}

const opaque = "its config-reloader does not report content"

// outcomeOfLoads infers the outcome of a content from the times of loads.
func outcomeOfLoads(l loads, want Wanted, now time.Time) Outcome {
	last, unit, who := l.last()
	switch {
	case l.serverErr == nil && !l.server.OK:
		return Outcome{Refused, "the server rejected the configuration of its last reload, which may be an older one; " + opaque}
	case l.reloaderErr == nil && l.reloader.At.IsZero():
		return Outcome{Waiting, opaque + "; it has not reloaded the server yet" + l.notes()}
	case l.reloaderErr == nil && !l.reloader.OK && statusOf(l.serverErr) == http.StatusServiceUnavailable:
		return Outcome{Waiting, "the server is not ready; " + opaque}
	case l.reloaderErr == nil && !l.reloader.OK:
		return Outcome{Refused, opaque + "; its last attempt to reload the server failed, see its log" + l.notes()}
	case last.IsZero() && wantsCredentials(l.reloaderErr):
		return Outcome{Silent, "its reloaders require credentials" + l.notes()}
	case last.IsZero():
		return Outcome{Silent, "its reloaders do not answer" + l.notes()}
	case !want.Before && last.Add(unit).After(want.Since):
		return Outcome{Reloaded, who + " at " + stamp(last) + ", after the last change" + l.notes()}
	case !want.Before:
		return Outcome{Waiting, who + " at " + stamp(last) + ", and not since the last change at " + stamp(want.Since) + l.notes()}
	case now.Sub(want.Since) < kubeletDelay:
		return Outcome{} // content from before the operator started may still be in flight
	}
	return Outcome{Reloaded, who + " at " + stamp(last) + ", and nothing changed since the operator first checked, at " + stamp(want.Since) + l.notes()}
}

// last returns the latest load confirmed by all available sources, and what may be missing from its time: up to a second
// from servers, a millisecond from reloaders, and more if the clock of the pod differs. The time is zero if no load is
// reported.
func (l loads) last() (at time.Time, unit time.Duration, who string) {
	at, unit, who = l.reloader.At, time.Millisecond, opaque+"; it reloaded successfully"
	switch {
	case l.reloaderErr != nil && l.serverErr != nil:
		return time.Time{}, 0, ""
	case l.reloaderErr != nil:
		at, unit, who = l.server.At, time.Second, "its reloaders do not answer; the server loaded a configuration"
	case l.serverErr == nil && l.server.At.Before(l.reloader.At.Truncate(time.Second)):
		at, unit = l.server.At, time.Second
	}
	return l.clock.ours(at), unit + l.clock.error, who
}

// notes explains why the server's own report is missing, and a clock that differs.
func (l loads) notes() string { return l.aboutServer() + l.clock.note() }

// aboutServer explains why the server's own report is missing.
func (l loads) aboutServer() string {
	switch code := statusOf(l.serverErr); {
	case l.serverErr == nil:
		return ""
	case wantsCredentials(l.serverErr):
		return "; the server requires credentials to report its own state"
	case code == http.StatusServiceUnavailable:
		return "; the server is not ready"
	case code != 0:
		return fmt.Sprintf("; the server does not report its last load (status %d)", code)
	}
	return "; the server does not answer the operator"
}

// wantsCredentials reports whether an error means that the response requires a password or a client
// certificate.
func wantsCredentials(err error) bool {
	e, _ := errors.AsType[*net.OpError](err)
	code := statusOf(err)
	return code == http.StatusUnauthorized || code == http.StatusForbidden || e != nil && e.Op == "remote error"
}

// statusOf returns the HTTP status code of an error, or 0.
func statusOf(err error) int {
	e, _ := errors.AsType[statusError](err)
	return int(e)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
