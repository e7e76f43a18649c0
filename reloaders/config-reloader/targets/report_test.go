package targets

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/jsonstream"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// scraper is a fake Prometheus.
type scraper struct {
	mu              sync.Mutex
	active, dropped []string // "JOB ADDRESS", dropped ones with " own" if they are not from the list
	old             bool     // does not support the parameter scrapePool
	refuse          bool
	scrapes         map[string]time.Time // times of the last scrapes, by entry of active
	series          map[string]string    // by entry of active; nil: there is no query API
	failing         map[string]bool      // by entry of active
	metrics         string               // metrics of an agent; empty: there are none
	down            bool
	asked           []string
}

func (s *scraper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.RawQuery)
	if s.down {
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	if s.refuse {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	if r.URL.Path == "/api/v1/query" {
		s.query(w, r.URL.Query().Get("query"))
		return
	}
	if r.URL.Path == "/metrics" {
		_, _ = io.WriteString(w, s.metrics)
		return
	}
	pool := r.URL.Query().Get("scrapePool")
	var active, dropped []any
	for _, text := range s.active {
		job := strings.Fields(text)[0]
		if pool != "" && pool != job && !s.old {
			continue
		}
		health := "up"
		if s.failing[text] {
			health = "down"
		}
		active = append(active, map[string]any{"scrapePool": job, "discoveredLabels": map[string]string{"__address__": strings.Fields(text)[1], "job": "another", "__meta_x": strings.Repeat("x", 100)},
			"labels": labelsOf(text), "health": health, "lastScrape": s.scrapes[text]})
	}
	for _, text := range s.dropped {
		parts := strings.Fields(text)
		labels := map[string]string{"__address__": parts[1], "job": parts[0]}
		if len(parts) == 2 {
			labels["__meta_url"] = "http://127.0.0.1:8082/sd/" + parts[0]
		}
		if s.old || pool == parts[0] {
			dropped = append(dropped, map[string]any{"discoveredLabels": labels})
		}
	}
	data := map[string]any{"activeTargets": []any{}, "droppedTargets": []any{}, "droppedTargetCounts": nil}
	if r.URL.Query().Get("state") == "active" {
		data["activeTargets"] = append([]any{}, active...)
	} else {
		data["droppedTargets"] = append([]any{}, dropped...)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": data})
}

// labelsOf returns the labels of an active target after relabeling.
func labelsOf(active string) map[string]string {
	parts := append(strings.Fields(active), "")
	return map[string]string{"job": parts[0], "instance": parts[1], "x": parts[2]}
}

// query answers an instant query.
func (s *scraper) query(w http.ResponseWriter, query string) {
	if s.series == nil || query != "scrape_samples_post_metric_relabeling" {
		http.Error(w, "unavailable with an agent", http.StatusUnprocessableEntity)
		return
	}
	result := []any{}
	for text, value := range s.series {
		labels := labelsOf(text)
		labels["__name__"] = query
		result = append(result, map[string]any{"metric": labels, "value": []any{1764230400.123, value}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}})
}

// scrapedAt sets the last scrapes of all active targets.
func (s *scraper) scrapedAt(at time.Time) {
	s.scrapes = map[string]time.Time{}
	for _, text := range s.active {
		s.scrapes[text] = at
	}
}

// reported is a reporter with a list of two jobs, and a clock.
type reported struct {
	*reporter
	*scraper
	t   *testing.T
	log logtest.Log
	now time.Time
}

const listOfTwo = `{"begin":{"version":"3-7","full":true,"jobs":2}}
{"job":"a","groups":[{"targets":["10.0.0.1:80"],"labels":{}},{"targets":["10.0.0.2:80"],"labels":{}}]}
{"job":"b","groups":[{"targets":["10.0.0.1:80"],"labels":{}}]}
{"end":{"version":"3-7"}}
`

func newReported(t *testing.T) *reported {
	r := &reported{t: t, now: time.Now(), scraper: &scraper{active: []string{"a 10.0.0.1:80", "a 10.0.0.2:80", "b 10.0.0.1:80", "own 10.0.0.9:80"}}}
	srv := httptest.NewServer(r.scraper)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL + "/api/v1/targets")
	must(t, err)
	l := &list{}
	must(t, feedAt(l, r.now, listOfTwo))
	r.reporter = &reporter{list: l, every: time.Minute, prometheus: Prometheus{Targets: u}, log: slog.New(slog.NewTextHandler(&r.log, nil)), watching: newWatching(), seed: maphash.MakeSeed()}
	r.prometheus.Client.Timeout = time.Minute
	return r
}

// pass advances the clock, while Prometheus requests jobs every 5 s and the list is confirmed.
func (r *reported) pass(d time.Duration, jobs ...string) {
	for end := r.now.Add(d); r.now.Before(end); r.now = r.now.Add(5 * time.Second) {
		r.list.confirm(r.now)
		for _, name := range jobs {
			j, version := r.list.jobAt(name)
			r.fetches.note(name, j, version, r.now)
		}
	}
}

// follow notifies the reporter of a change of the list.
func (r *reported) follow() {
	_, jobs := r.list.snapshot()
	r.watching.follow(jobs)
}

// wants compares the next report with the wanted one.
func (r *reported) wants(what, want string) {
	r.t.Helper()
	out, ok := r.report(r.t.Context(), r.now, true)
	got := fmt.Sprintf("%d of %d compared, %d of %d active", out.Compared, out.Requested, out.Active, out.Served)
	for _, j := range out.Jobs {
		text, err := json.Marshal(j)
		must(r.t, err)
		got += " " + string(text)
	}
	if !ok {
		got += " failed"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s: %s", what, diff)
	}
}

// Requested jobs are compared once Prometheus has had time to apply them, and again when they change.
func TestReport(t *testing.T) {
	r := newReported(t)
	r.wants("before Prometheus requests anything", "0 of 0 compared, 0 of 0 active")
	r.pass(10*time.Second, "a", "b")
	r.wants("soon after", `0 of 2 compared, 0 of 0 active {"job":"a","pending":true,"served":0,"active":0} {"job":"b","pending":true,"served":0,"active":0}`)
	r.pass(20*time.Second, "a", "b")
	r.wants("settled", "2 of 2 compared, 3 of 3 active")
	r.pass(time.Minute, "a", "b")
	r.wants("unchanged", "2 of 2 compared, 3 of 3 active")
	if len(r.asked) != 1 {
		t.Errorf("%d requests for the targets of an unchanged list: %v", len(r.asked), r.asked)
	}
	r.pass(5*time.Minute, "a", "b")
	r.wants("after a while", "2 of 2 compared, 3 of 3 active")
	if len(r.asked) != 2 {
		t.Errorf("%d requests in five minutes", len(r.asked))
	}
	must(t, feed(r.list, `{"begin":{"version":"3-8","from":"3-7","jobs":1}}{"job":"b","groups":[]}{"end":{"version":"3-8"}}`, bounds))
	r.list.confirm(r.now)
	r.wants("changed", `1 of 2 compared, 2 of 2 active {"job":"b","fetched":"3-7","pending":true,"served":0,"active":0}`)
	r.active = r.active[:2]
	r.pass(25*time.Second, "a", "b")
	r.wants("settled again", "2 of 2 compared, 2 of 2 active")
	r.pass(25*time.Second, "a")
	r.wants("with a job that is not in the configuration any more", "1 of 1 compared, 2 of 2 active")
}

// Only a difference that all comparisons find for a while is a disagreement.
func TestDisagreements(t *testing.T) {
	r := newReported(t)
	r.active = []string{"a 10.0.0.1:80", "a 10.0.0.3:80", "b 10.0.0.1:80"}
	r.dropped = []string{"a 10.0.0.2:80", "a 10.0.0.1:80 own"}
	r.pass(25*time.Second, "a", "b")
	r.wants("the first time", "2 of 2 compared, 3 of 3 active")
	r.pass(confirmAfter-10*time.Second, "a", "b")
	r.wants("a little later", "2 of 2 compared, 3 of 3 active")
	r.pass(10*time.Second, "a", "b")
	r.wants("the second time", `2 of 2 compared, 3 of 3 active {"job":"a","served":2,"active":2,"dropped":{"count":1,"names":["10.0.0.2:80"]},"unlisted":{"count":1,"names":["10.0.0.3:80"]}}`)
	r.active, r.dropped = []string{"a 10.0.0.1:80", "a 10.0.0.4:80", "b 10.0.0.1:80"}, nil
	r.pass(time.Minute, "a", "b")
	r.wants("another target", "2 of 2 compared, 3 of 3 active")

	// Targets with the same labels after relabeling are scraped once.
	r.active = []string{"a 10.0.0.2:80", "b 10.0.0.1:80"}
	for range 2 {
		r.pass(time.Minute, "a", "b")
		r.wants("equal targets", `2 of 2 compared, 2 of 3 active {"job":"a","served":2,"active":1}`)
	}
	r.active = []string{"b 10.0.0.1:80"}
	r.pass(6*time.Minute, "a", "b")
	r.wants("none of a job", `2 of 2 compared, 1 of 3 active {"job":"a","served":2,"active":0}`)
	r.pass(time.Minute, "a", "b")
	r.wants("still none of a job", `2 of 2 compared, 1 of 3 active {"job":"a","served":2,"active":0,"missing":{"count":2,"names":["10.0.0.1:80","10.0.0.2:80"]}}`)
}

// Nothing is compared while Prometheus does not respond or the list may be outdated. A version that ignores the
// parameter for one job is queried for all dropped targets only once.
func TestReportWithout(t *testing.T) {
	r := newReported(t)
	pending := ` {"job":"a","pending":true,"served":0,"active":0} {"job":"b","pending":true,"served":0,"active":0}`
	r.pass(25*time.Second, "a", "b")
	r.down = true
	for range 3 {
		r.wants("starting", "0 of 2 compared, 0 of 0 active"+pending+" failed")
	}
	if n := strings.Count(r.log.String(), "503 Service Unavailable"); n != 1 {
		t.Errorf("%d lines: %s", n, &r.log)
	}
	r.down = false
	r.active, r.old = []string{"a 10.0.0.1:80", "b 10.0.0.1:80"}, true
	r.dropped = []string{"z 10.0.0.2:80", "a 10.0.0.2:80"}
	for range 2 {
		r.pass(6*time.Minute, "a", "b")
		r.wants("an old version", `2 of 2 compared, 2 of 3 active {"job":"a","served":2,"active":1}`)
	}
	all := 0
	for _, query := range r.asked {
		if strings.Contains(query, "state=dropped") {
			all++
		}
	}
	if all != 1 {
		t.Errorf("asked %d times for all dropped targets: %v", all, r.asked)
	}
	r.now = r.now.Add(silence + time.Second)
	for _, name := range []string{"a", "b"} {
		j, version := r.list.jobAt(name)
		r.fetches.note(name, j, version, r.now)
	}
	r.wants("without the server", "0 of 2 compared, 0 of 0 active"+pending)
}

// A response that is malformed or too large is an error.
func TestDecodeAnswer(t *testing.T) {
	for text, want := range map[string]string{
		`<html>`:                     "invalid character",
		`[]`:                         "is expected",
		`{"data":[]}`:                "is expected",
		`{"data":{"activeTargets":{`: "is expected",
		`{"data":{"activeTargets":[{"scrapePool":"a"},`:                                    "EOF",
		`{"data":{"activeTargets":[{"scrapePool":"` + strings.Repeat("a", maxScraped*2):    "too large",
		`{"data":{"activeTargets":[{"scrapePool":"a"},{"scrapePool":"b"}],"x":{"y":[1]}}}`: "",
		`{"status":"success"}`: "",
	} {
		n := 0
		err := decodeAnswer(strings.NewReader(text), "activeTargets", func(in *jsonstream.Reader) error { n++; return in.Skip() })
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
		if want == "" && strings.Contains(text, "scrapePool") && n != 2 {
			t.Errorf("%d targets", n)
		}
	}
}

// A Prometheus with TLS and basic authentication is queried with the credentials for reloads.
func TestPrometheusWithCredentials(t *testing.T) {
	s := &scraper{active: []string{"a 10.0.0.1:80"}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "admin" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	u, err := url.Parse(server.URL + "/prefix/-/reload")
	must(t, err)
	dir := t.TempDir()
	for name, value := range map[string]string{"user": "admin", "password": "secret"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(value+"\n"), 0o600))
	}
	p := Prometheus{Targets: reload.Derive(u, "/api/v1/targets"), Client: reload.ClientOptions{Timeout: time.Minute, SkipVerify: true}}
	n := 0
	count := func(activeTarget) error { n++; return nil }
	if err := p.active(t.Context(), count); err == nil || !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Errorf("without credentials: %v", err)
	}
	p.Client.UsernameFile, p.Client.PasswordFile = filepath.Join(dir, "user"), filepath.Join(dir, "password")
	must(t, p.active(t.Context(), count))
	if n != 1 {
		t.Errorf("%d targets", n)
	}
}

// A report reaches the leader, and a server that accepts no reports does not interrupt the stream.
func TestReportsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		p.client.opts.Report = time.Minute
		code, attempts, bodies := http.StatusServiceUnavailable, 0, []string{}
		var mu sync.Mutex
		p.client.send = func(_ context.Context, u *url.URL, _ http.Header, body []byte) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if attempts++; attempts%3 == 0 {
				code = http.StatusNoContent
			}
			if code == http.StatusNoContent {
				bodies = append(bodies, u.String()+" "+string(body))
			}
			return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
		}
		defer p.run()()
		time.Sleep(2 * time.Minute)
		if attempts != 0 {
			t.Errorf("%d reports without a list", attempts)
		}
		before, _ := p.requests()
		p.send(start)
		keep := func(d time.Duration) {
			for range d / (10 * time.Second) {
				time.Sleep(10 * time.Second)
				p.send(`{"ping":{"version":"3-7"}}` + "\n")
			}
		}
		keep(70 * time.Second)
		if attempts != 3 || len(bodies) != 1 || bodies[0] != `https://discovery`+targetreport.Path+` {"version":"3-7","requested":0,"served":0,"active":0,"compared":0,"boot":946684800000,"seq":1,"blind":true}` {
			t.Errorf("%d attempts: %v", attempts, bodies)
		}
		mu.Lock()
		code, attempts = http.StatusNotFound, 3
		mu.Unlock()
		keep(3 * time.Minute)
		if attempts > 7 {
			t.Errorf("%d attempts at a server that takes no reports", attempts-3)
		}
		if asked, _ := p.requests(); len(asked) != len(before) || p.errors(Status) != 0 {
			t.Errorf("%d streams, %d errors", len(asked), p.errors(Status))
		}
	})
}
