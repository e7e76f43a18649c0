package delivery

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

func TestOutcomeOfLoads(t *testing.T) {
	written := time.Date(2026, 11, 21, 12, 0, 0, 400e6+1, time.UTC) // reloaders count milliseconds
	before, after := written.Add(-time.Hour), written.Add(5*time.Second)
	const since = "2026-11-21T12:00:00Z"
	ok := func(at time.Time) loads {
		return loads{reloader: reloads{true, at.Truncate(time.Millisecond)}, server: reload.LoadState{OK: true, At: at.Truncate(time.Second)}}
	}
	with := func(l loads, change func(*loads)) loads { change(&l); return l }
	serverErr := func(err error) func(*loads) { return func(l *loads) { l.serverErr = err } }
	noReloader := func(l *loads) { l.reloaderErr = statusError(404) }
	for name, tc := range map[string]struct {
		loads  loads
		before bool          // it was written before the operator started
		age    time.Duration // since then
		want   Outcome
	}{
		"reloaded after the change": {loads: ok(after),
			want: Outcome{Reloaded, opaque + "; it reloaded successfully at 2026-11-21T12:00:05Z, after the last change"}},
		"reloaded in the second of the change": {loads: ok(written),
			want: Outcome{Reloaded, opaque + "; it reloaded successfully at " + since + ", after the last change"}},
		"reloaded before the change, in its second": {loads: with(ok(written.Add(-time.Millisecond)), serverErr(statusError(404))),
			want: Outcome{Waiting, opaque + "; it reloaded successfully at " + since + ", and not since the last change at " + since +
				"; the server does not report its last load (status 404)"}},
		"only the server answers, which counts whole seconds": {loads: with(ok(written), noReloader),
			want: Outcome{Reloaded, "its reloaders do not answer; the server loaded a configuration at " + since + ", after the last change"}},
		"reloaded before the change only": {loads: ok(before), age: time.Hour,
			want: Outcome{Waiting, opaque + "; it reloaded successfully at 2026-11-21T11:00:00Z, and not since the last change at " + since}},
		"never reloaded": {loads: ok(time.Time{}),
			want: Outcome{Waiting, opaque + "; it has not reloaded the server yet"}},
		"the server refused": {loads: with(ok(before), func(l *loads) { l.server.OK, l.reloader.OK = false, false }),
			want: Outcome{Refused, "the server rejected the configuration of its last reload, which may be an older one; " + opaque}},
		"the reload failed, the server cannot be asked": {loads: with(with(ok(before), serverErr(statusError(401))), func(l *loads) { l.reloader.OK = false }),
			want: Outcome{Refused, opaque + "; its last attempt to reload the server failed, see its log; the server requires credentials to report its own state"}},
		"the reload failed because the server starts": {loads: with(with(ok(before), serverErr(statusError(503))), func(l *loads) { l.reloader.OK = false }),
			want: Outcome{Waiting, "the server is not ready; " + opaque}},
		"reloaded, the server wants a password": {loads: with(ok(after), serverErr(statusError(401))),
			want: Outcome{Reloaded, opaque + "; it reloaded successfully at 2026-11-21T12:00:05Z, after the last change; the server requires credentials to report its own state"}},
		"reloaded, the server knows no such question": {loads: with(ok(after), serverErr(statusError(404))),
			want: Outcome{Reloaded, opaque + "; it reloaded successfully at 2026-11-21T12:00:05Z, after the last change; the server does not report its last load (status 404)"}},
		"the server has loaded nothing since": {loads: with(ok(after), func(l *loads) { l.server.At = before }),
			want: Outcome{Waiting, opaque + "; it reloaded successfully at 2026-11-21T11:00:00Z, and not since the last change at " + since}},
		"only the server answers": {loads: with(ok(after), noReloader),
			want: Outcome{Reloaded, "its reloaders do not answer; the server loaded a configuration at 2026-11-21T12:00:05Z, after the last change"}},
		"only the server answers, and has loaded nothing since": {loads: with(ok(before), noReloader),
			want: Outcome{Waiting, "its reloaders do not answer; the server loaded a configuration at 2026-11-21T11:00:00Z, and not since the last change at " + since}},
		"nobody answers": {loads: loads{reloaderErr: errNoReloads, serverErr: errNoReloads},
			want: Outcome{Silent, "its reloaders do not answer; the server does not answer the operator"}},
		"all want credentials": {loads: loads{reloaderErr: statusError(401), serverErr: statusError(401)},
			want: Outcome{Silent, "its reloaders require credentials; the server requires credentials to report its own state"}},
		"written before the operator started, and perhaps on its way": {loads: ok(before), before: true, age: time.Minute},
		"written before the operator started": {loads: ok(before), before: true, age: time.Hour,
			want: Outcome{Reloaded, opaque + "; it reloaded successfully at 2026-11-21T11:00:00Z, and nothing changed since the operator first checked, at " + since}},
	} {
		t.Run(name, func(t *testing.T) {
			got := outcomeOfLoads(tc.loads, Wanted{Since: written, Before: tc.before}, written.Add(tc.age))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// reference imitates a pod with the upstream reloader: one port serves only metrics and health, the
// other is the server's.
type reference struct {
	lastOK int
	lastAt time.Time
	server http.HandlerFunc
	ahead  time.Duration // of the clock of the pod
}

func (p reference) start(t *testing.T) Pod {
	t.Helper()
	port := func(h http.Handler) int { return serve(t, atClock(p.ahead, h)) }
	reloader := http.NewServeMux()
	reloader.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		at := "0"
		if !p.lastAt.IsZero() {
			at = strconv.FormatFloat(float64(p.lastAt.UnixMilli())/1000, 'e', -1, 64)
		}
		fmt.Fprintf(w, "# HELP reloader_last_reload_successful Whether the last reload attempt was successful\n"+
			"# TYPE reloader_last_reload_successful gauge\nreloader_last_reload_successful %d\n"+
			"# HELP reloader_last_reload_success_timestamp_seconds Timestamp of the last successful reload\n"+
			"# TYPE reloader_last_reload_success_timestamp_seconds gauge\nreloader_last_reload_success_timestamp_seconds %s\n"+
			"# TYPE reloader_reloads_total counter\nreloader_reloads_total 3\n"+
			"prometheus_config_reloader_build_info{version=\"0.93.0\"} 1\n", p.lastOK, at)
	})
	reloader.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux := http.NewServeMux()
	if p.server != nil {
		mux.HandleFunc("/prom/api/v1/status/runtimeinfo", p.server)
	}
	return Pod{
		IP: "127.0.0.1", Scheme: "http", Ports: []int{port(reloader), port(http.NotFoundHandler())},
		ServerPort: port(mux), RuntimeInfo: "/prom/api/v1/status/runtimeinfo",
	}
}

// serve returns the port of a server.
func serve(t *testing.T, h http.Handler) int {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// atClock serves like a server whose clock is ahead.
func atClock(ahead time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		h.ServeHTTP(w, r)
	})
}

func TestQueryAReferenceReloader(t *testing.T) {
	written := time.Now().Add(-time.Minute)
	loaded := func(ok bool, at time.Time) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"status":"success","data":{"reloadConfigSuccess":%t,"lastConfigTime":%q}}`, ok, at.UTC().Format(time.RFC3339))
		}
	}
	at := func(d time.Duration) time.Time { return written.Add(d) }
	for name, tc := range map[string]struct {
		pod   reference
		state State
		says  string
	}{
		"it reloaded":         {reference{1, at(3 * time.Second), loaded(true, at(3*time.Second)), 0}, Reloaded, "after the last change"},
		"it has not reloaded": {reference{1, at(-time.Hour), loaded(true, at(-time.Hour)), 0}, Waiting, "not since the last change"},
		"the server refuses":  {reference{0, at(-time.Hour), loaded(false, at(-time.Hour)), 0}, Refused, "the server rejected"},
		"it failed":           {reference{0, at(-time.Hour), nil, 0}, Refused, "its last attempt to reload the server failed"},
		"it just started":     {reference{0, time.Time{}, loaded(true, at(0)), 0}, Waiting, "it has not reloaded the server yet"},
		"the server starts": {reference{0, at(-time.Hour), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}, 0}, Waiting, "the server is not ready"},
		// Times of the pod's clock.
		"it has not reloaded, by a clock that is ahead": {reference{1, at(10 * time.Second), loaded(true, at(10*time.Second)), 30 * time.Second},
			Waiting, "not since the last change"},
		"it reloaded, by a clock that is ahead":                {reference{1, at(33 * time.Second), loaded(true, at(33*time.Second)), 30 * time.Second}, Reloaded, "clock is 30s ahead"},
		"it reloaded, by a clock that is behind":               {reference{1, at(-27 * time.Second), loaded(true, at(-27*time.Second)), -30 * time.Second}, Reloaded, "clock is 30s behind"},
		"only the reloader answers, by a clock that is behind": {reference{1, at(-27 * time.Second), nil, -30 * time.Second}, Reloaded, "clock is 30s behind"},
		"it reloaded, by a clock that is hours behind": {reference{1, at(3*time.Second - 5*time.Hour), loaded(true, at(3*time.Second-5*time.Hour)), -5 * time.Hour},
			Reloaded, "clock is 5h0m0s behind"},
	} {
		t.Run(name, func(t *testing.T) {
			got, inTime := Query(t.Context(), tc.pod.start(t), Wanted{Content: Content{Config: "aa"}, Since: written}, slowLimit)
			if got.State != tc.state || !strings.Contains(got.Message, tc.says) || got.Disk != Unknown || !inTime {
				t.Errorf("%+v, in time %v", got, inTime)
			}
		})
	}
}
