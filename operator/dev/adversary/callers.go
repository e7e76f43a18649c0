package adversary

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

// callers send hostile requests, and well-behaved ones next to them.
type callers struct {
	w       *environment
	source  *hostile.Source
	found   func(Finding)
	mallory string // tokens: of a user who may edit one namespace
	nobody  string // without any permission
	reader  string // may read everything but Secrets

	hooksOnly bool // only the webhooks are running

	mu    sync.Mutex
	count requestCounts
}

// requestCounts is the number of requests by result.
type requestCounts struct {
	total   int
	codes   map[string]int
	good    int
	slowest time.Duration // of the well-behaved requests
}

func newCallers(ctx context.Context, w *environment, source *hostile.Source, found func(Finding)) (*callers, error) {
	c := &callers{w: w, source: source, found: found, count: requestCounts{codes: map[string]int{}}}
	for _, t := range []struct {
		into               *string
		namespace, account string
	}{{&c.mallory, hostileNS, "mallory"}, {&c.nobody, hostileNS, "nobody"}, {&c.reader, monitoring, "reader"}} {
		var err error
		if *t.into, err = w.token(ctx, t.namespace, t.account); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// request is one hostile request.
type request struct {
	what, method, url, token string
	kind                     string // Content-Type
	body                     []byte
	slow                     bool // send the body one byte at a time
	headers                  int  // total size in kilobytes
}

// inFlight is the maximum number of concurrent hostile requests.
const inFlight = 24

// run sends requests until the context is done.
func (c *callers) run(ctx context.Context) {
	var g sync.WaitGroup
	if !c.hooksOnly {
		g.Go(func() { c.good(ctx) })
	}
	g.Go(func() { c.probes(ctx) })
	if c.w.Requests > 0 {
		pace := time.NewTicker(time.Duration(float64(time.Second) / c.w.Requests))
		defer pace.Stop()
		slots := make(chan struct{}, inFlight)
		for n := uint64(0); ctx.Err() == nil; n++ {
			select {
			case <-ctx.Done():
				continue
			case <-pace.C:
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				continue
			}
			g.Go(func() {
				defer func() { <-slots }()
				c.send(ctx, c.hostile(rand.New(rand.NewPCG(c.w.Seed, n)), int(n))) //nolint:gosec // a number that is repeatable
			})
		}
	}
	g.Wait()
}

// most is the maximum number of bytes read from a response.
const most = 64 << 20

// send sends a hostile request and checks the response.
func (c *callers) send(ctx context.Context, q request) {
	ctx, cancel := context.WithTimeout(ctx, 45*time.Second)
	defer cancel()
	var body io.Reader = bytes.NewReader(q.body)
	if q.slow {
		body = &slowly{ctx, q.body}
	}
	r, err := http.NewRequestWithContext(ctx, q.method, q.url, body)
	if err != nil { // a URL that no client can send
		return
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.kind != "" {
		r.Header.Set("Content-Type", q.kind)
	}
	for i := range q.headers {
		r.Header.Set(fmt.Sprint("X-Header-", i), strings.Repeat("h", 1<<10))
	}
	code := "none"
	resp, err := client.Do(r)
	if err == nil {
		code = fmt.Sprint(resp.StatusCode)
		text, _ := io.ReadAll(io.LimitReader(resp.Body, most)) // a stream ends at the deadline of the context
		_ = resp.Body.Close()
		c.look(q, resp.Header, text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.total++
	c.count.codes[code]++
}

// look searches a response for canaries.
func (c *callers) look(q request, header http.Header, text []byte) {
	for _, canary := range []string{secretCanary, privateCanary} {
		at := bytes.Index(text, []byte(canary))
		if at < 0 && !strings.Contains(fmt.Sprint(header), canary) {
			continue
		}
		around := text[max(0, at-300):min(len(text), max(0, at)+200)]
		c.found(Finding{Kind: Leaked, Text: fmt.Sprintf("%s: %s %s answers with %s: …%s…", q.what, q.method, excerpt.Of(q.url, 300), canary, around)})
	}
}

// slowly is a request body that delivers one byte every quarter of a second.
type slowly struct {
	ctx  context.Context
	rest []byte
}

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(250 * time.Millisecond):
	}
	n := copy(p[:1], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// good sends the requests of a well-behaved client every few seconds.
func (c *callers) good(ctx context.Context) {
	object := c.w.operatorURL() + "/apis/monitoring.coreos.com/v1/namespaces/" + monitoring + "/prometheuses/main/"
	for ctx.Err() == nil {
		for _, url := range []string{c.w.operatorURL() + "/api/v1/overview", object + "sources?limit=10", object + "config?limit=10"} {
			c.timed(ctx, url, func(ctx context.Context) error {
				text, err := get(ctx, url, c.reader)
				if bytes.Contains(text, []byte(secretCanary)) {
					c.found(Finding{Kind: Leaked, Text: url + " has a value of a Secret"})
				}
				return err
			})
		}
		for _, url := range []string{c.w.operatorURL() + "/metrics", c.w.webhookURL() + "/metrics"} {
			text, err := get(ctx, url, "")
			if err == nil && bytes.Contains(text, []byte(secretCanary)) {
				c.found(Finding{Kind: Leaked, Text: url + " has a value of a Secret"})
			}
		}
		c.timed(ctx, "a good PrometheusRule through the webhooks", c.admitted)
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Second):
		}
	}
}

// warm fills the caches that a process keeps permanently: the checkers of all kinds.
func (c *callers) warm(ctx context.Context) error {
	for _, row := range catalog.All {
		body := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: warm, namespace: %s}\nspec: {}\n", row.GroupVersion(), row.Kind, hostileNS)
		q := request{method: http.MethodPost, url: c.w.operatorURL() + "/api/v1/preview", token: c.mallory, kind: "application/yaml", body: []byte(body)}
		c.send(ctx, q)
	}
	return ctx.Err()
}

// timed retries a well-behaved request until it succeeds, and reports it if that takes too long.
func (c *callers) timed(ctx context.Context, what string, ask func(context.Context) error) {
	began := time.Now()
	err := eventually(ctx, 3*c.w.Answer, func() error { return ask(ctx) })
	took := time.Since(began)
	if ctx.Err() != nil {
		return
	}
	if err != nil || took > c.w.Answer {
		c.found(Finding{Kind: Slow, Text: fmt.Sprintf("%s: answered after %s: %v", what, took.Round(time.Second), err)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.good++
	c.count.slowest = max(c.count.slowest, took)
}

// admitted passes an object through all webhooks in a dry run.
func (c *callers) admitted(ctx context.Context) error {
	all, err := objects.Parse([]byte(strings.ReplaceAll(subjects[1].manifest, "name: web, namespace", "name: dry, namespace")))
	if err != nil {
		return err
	}
	at, err := c.w.of(all[0])
	if err != nil {
		return err
	}
	var out *unstructured.Unstructured
	if out, err = at.Create(ctx, all[0], metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return err
	}
	if out.GetAnnotations()["prometheus-operator-validated"] != "true" {
		return fmt.Errorf("no webhook has seen it")
	}
	return nil
}

// probes probes the health of the processes as a kubelet does: a container is killed after four consecutive failures
// within a minute.
func (c *callers) probes(ctx context.Context) {
	failed := map[string]int{}
	all := []string{c.w.webhookURL() + "/healthz"}
	if !c.hooksOnly {
		all = append(all, c.w.operatorURL()+"/healthz", fmt.Sprintf("http://127.0.0.1:%d/healthz", c.w.ports.Ports[2]))
	}
	for ctx.Err() == nil {
		for _, url := range all {
			short, cancel := context.WithTimeout(ctx, time.Second)
			if _, err := get(short, url, ""); err == nil || ctx.Err() != nil {
				failed[url] = 0
			} else if failed[url]++; failed[url] == 12 {
				c.found(Finding{Kind: Ended, Text: fmt.Sprintf("%s does not answer within a second, for a minute: a kubelet ends the container (%v)", url, err)})
			}
			cancel()
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

func (c *callers) counted() requestCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.count
	out.codes = map[string]int{}
	for code, n := range c.count.codes {
		out.codes[code] = n
	}
	return out
}
