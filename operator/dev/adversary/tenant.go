package adversary

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

// subjects lists the objects that the well-behaved tenant changes, and how each change is detected.
var subjects = []struct {
	name     string
	manifest string // with the placeholder MARK
	mark     string // text that the output contains after the change
	arrives  []target
}{
	{"ServiceMonitor", `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: good}
spec:
  selector: {matchLabels: {app: web}}
  endpoints:
  - port: http
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}
    relabelings: [{targetLabel: tier, replacement: tier-MARK}]
`, "replacement: tier-MARK\n", targets[:1]},
	{"PrometheusRule", `
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: web, namespace: good}
spec:
  groups: [{name: web, rules: [{alert: Down, expr: "up{job=\"web\"} == 0", annotations: {summary: "summary-MARK-of"}}]}]
`, "summary-MARK-of", []target{targets[0], targets[2]}},
	{"AlertmanagerConfig", `
apiVersion: monitoring.coreos.com/v1beta1
kind: AlertmanagerConfig
metadata: {name: web, namespace: good}
spec:
  route: {receiver: hook, matchers: [{name: team, value: a, matchType: "="}]}
  receivers: [{name: hook, webhookConfigs: [{url: "http://hook.example/MARK/"}], slackConfigs: [{apiURL: {name: login, key: url}, channel: "#a"}]}]
`, "http://hook.example/MARK/", targets[1:2]},
	{"Secret", `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: good}
stringData: {user: good, password: ` + secretCanary + `-good-MARK-, url: "https://hook.example/` + secretCanary + `-url-MARK-"}
`, secretCanary + "-good-MARK-", targets[:1]},
}

// between is the pause between two changes of one object.
const between = 2 * time.Second

// tenant changes its objects and measures the time until the changes are written.
type tenant struct {
	w     *environment
	v     *written
	bound time.Duration
	found func(Finding)

	mu       sync.Mutex
	latency  map[string][]time.Duration
	waiting  map[string]time.Time // start times of changes that are not written yet
	attempts int                  // writes that the API server rejected in the meantime
}

func newTenant(w *environment, v *written, found func(Finding)) *tenant {
	return &tenant{w: w, v: v, bound: w.Bound, found: found, latency: map[string][]time.Duration{}, waiting: map[string]time.Time{}}
}

// write changes one object; mark replaces the placeholder of the manifest.
func (t *tenant) write(ctx context.Context, i int, mark string) error {
	all, err := objects.Parse([]byte(strings.ReplaceAll(subjects[i].manifest, "MARK", mark)))
	if err != nil {
		return err
	}
	return eventually(ctx, readiness, func() error { // writes fail while the webhooks restart
		at, err := t.w.of(all[0])
		if err == nil {
			_, err = at.Apply(ctx, all[0].GetName(), all[0], metav1.ApplyOptions{FieldManager: "good", Force: true})
		}
		if err != nil {
			t.mu.Lock()
			t.attempts++
			t.mu.Unlock()
		}
		return err
	})
}

// arrived waits until a mark is written for all workloads.
func (t *tenant) arrived(ctx context.Context, i int, mark string) error {
	text := strings.ReplaceAll(subjects[i].mark, "MARK", mark)
	for _, to := range subjects[i].arrives {
		for {
			changed := t.v.changed()
			c, err := t.v.read(to)
			if err == nil && c.has(text) {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return fmt.Errorf("%s of %s: %w", subjects[i].name, to.kind, context.Cause(ctx))
			}
		}
	}
	return nil
}

// reset writes the initial state of all objects and waits until it is written for the workloads.
func (t *tenant) reset(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not written within %s", patience))
	defer cancel()
	for i := range subjects {
		if err := t.write(ctx, i, "first"); err != nil {
			return err
		}
	}
	for i := range subjects {
		if err := t.arrived(ctx, i, "first"); err != nil {
			return err
		}
	}
	return nil
}

// run changes the objects until the context is done, each kind independently.
func (t *tenant) run(ctx context.Context) {
	var g sync.WaitGroup
	for i := range subjects {
		g.Go(func() {
			for n := 1; ctx.Err() == nil; n++ {
				t.change(ctx, i, fmt.Sprint("n", n, "x"))
				select {
				case <-ctx.Done():
				case <-time.After(between):
				}
			}
		})
	}
	g.Wait()
}

// change makes one change and waits for it, at most five times the bound.
func (t *tenant) change(ctx context.Context, i int, mark string) {
	name := subjects[i].name
	if err := t.write(ctx, i, mark); err != nil {
		if ctx.Err() == nil {
			t.found(Finding{Kind: NotWritten, Text: fmt.Sprintf("the API server refuses a change of the good %s: %v", name, err)})
		}
		return
	}
	began := time.Now()
	t.mu.Lock()
	t.waiting[name] = began
	t.mu.Unlock()
	patient, cancel := context.WithTimeout(ctx, 5*t.bound)
	err := t.arrived(patient, i, mark)
	cancel()
	took := time.Since(began)
	t.mu.Lock()
	delete(t.waiting, name)
	if ctx.Err() == nil {
		t.latency[name] = append(t.latency[name], took)
	}
	t.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.found(Finding{Kind: NotWritten, Text: fmt.Sprintf("a change of the good %s is not written within %s", name, 5*t.bound)})
	case took > t.bound:
		t.found(Finding{Kind: NotWritten, Text: fmt.Sprintf("a change of the good %s was written after %s, more than %s", name, took.Round(time.Second), t.bound)})
	}
}

// summary returns counts and quantiles of the latencies.
func (t *tenant) summary() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, s := range subjects {
		all := slices.Sorted(slices.Values(t.latency[s.name]))
		if len(all) == 0 {
			continue
		}
		at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(10 * time.Millisecond) }
		out = append(out, fmt.Sprintf("%s: %d changes, written after %s (half), %s (95%%), %s (slowest)", s.name, len(all), at(0.5), at(0.95), at(1)))
	}
	return strings.Join(out, "\n")
}

// slowest returns the age of the oldest change that is not written.
func (t *tenant) slowest() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out time.Duration
	for _, since := range t.waiting {
		out = max(out, time.Since(since))
	}
	return out
}

func (t *tenant) changes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, all := range t.latency {
		n += len(all)
	}
	return n
}
