package adversary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// state holds the values that must be equal before and after the attack.
type state struct {
	contents map[string]content
	rss      map[string]int64
	heap     int64 // of the operator, after a garbage collection
}

// margins is the tolerated memory growth of each process in bytes, for caches that keep their size and for pages that
// Go returns later.
var margins = map[string]int64{"operator": 100 << 20, "webhook": 80 << 20, "config-reloader": 20 << 20}

// heapMargin is the tolerated growth of the operator's live heap.
const heapMargin = 30 << 20

func (r *runner) state(ctx context.Context) (state, error) {
	s := state{contents: map[string]content{}, rss: map[string]int64{}}
	for _, t := range targets {
		c, err := r.v.complete(ctx, t)
		if err != nil {
			return s, err
		}
		s.contents[t.kind] = c
	}
	var err error
	if s.heap, err = r.heap(ctx); err != nil {
		return s, err
	}
	for _, name := range r.k.names() {
		s.rss[name] = r.k.usage(name).RSS
	}
	return s, nil
}

// heap returns the size of the operator's live heap after a garbage collection.
func (r *runner) heap(ctx context.Context) (int64, error) {
	if _, err := get(ctx, r.w.operatorURL()+"/debug/pprof/heap?gc=1", r.callers.reader); err != nil {
		return 0, err
	}
	text, err := get(ctx, r.w.operatorURL()+"/metrics", "")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("go_memstats_heap_alloc_bytes ")); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(string(value)), 64)
			return int64(n), err
		}
	}
	return 0, errors.New("no go_memstats_heap_alloc_bytes in /metrics")
}

// compare deletes all hostile objects and compares the state with the one before the attack.
func (r *runner) compare(ctx context.Context) error {
	r.say("everything hostile is deleted")
	r.attacker.shrink(ctx, 0)
	if err := r.deleteRest(ctx); err != nil {
		return err
	}
	if err := r.checker.after(ctx, nil); err != nil {
		return err
	}
	if err := r.tenant.reset(ctx, 5*r.Bound); err != nil {
		r.findings.add(Finding{Kind: NotWritten, Text: "after the hostile objects are gone: " + err.Error()})
	}
	for _, t := range targets {
		err := eventually(ctx, 2*r.Bound, func() error {
			now, err := r.v.read(t)
			if err != nil {
				return err
			}
			return difference(r.before.contents[t.kind], now)
		})
		if err != nil && ctx.Err() == nil {
			r.findings.add(Finding{Kind: Remains, Text: t.kind + ": " + err.Error()})
		}
	}
	return r.memory(ctx)
}

// deleteRest deletes hostile objects that the attacker no longer tracks.
func (r *runner) deleteRest(ctx context.Context) error {
	for _, row := range allRows() {
		err := r.w.objects.Resource(row.GroupVersionResource()).Namespace(hostileNS).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		if err != nil && ctx.Err() == nil {
			r.findings.add(Finding{Kind: Unserved, Text: "delete all " + row.Resource + ": " + err.Error()})
		}
	}
	return r.w.kube.CoreV1().Secrets(hostileNS).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// difference returns an error unless two contents are byte-identical.
func difference(want, got content) error {
	if want.sum() == got.sum() {
		return nil
	}
	a, b := slices.Collect(strings.Lines(string(want.config))), slices.Collect(strings.Lines(string(got.config)))
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Errorf("line %d was %q and is %q", i+1, excerpt.Of(a[i], 200), excerpt.Of(b[i], 200))
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("%d lines were written, and are %d", len(a), len(b))
	}
	return fmt.Errorf("rule files were %.300q and are %.300q", slices.Sorted(maps.Keys(want.rules)), slices.Sorted(maps.Keys(got.rules)))
}

// memory waits until the memory of every process is back within the margins.
func (r *runner) memory(ctx context.Context) error {
	err := eventually(ctx, 12*time.Minute, func() error { // targets are cached for ten minutes after the last request
		heap, err := r.heap(ctx)
		if err != nil {
			return err
		}
		if more := heap - r.before.heap; more > heapMargin {
			return fmt.Errorf("operator: a live heap of %d MiB, before %d MiB", heap>>20, r.before.heap>>20)
		}
		for _, name := range r.k.names() {
			if now := r.k.usage(name).RSS; now > r.before.rss[name]+margins[name] {
				return fmt.Errorf("%s: %d MiB resident, before %d MiB", name, now>>20, r.before.rss[name]>>20)
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.findings.add(Finding{Kind: Remains, Text: "memory " + err.Error() + r.profile(ctx)})
	}
	var after []string
	for _, name := range r.k.names() {
		after = append(after, fmt.Sprintf("%s %d → %d MiB", name, r.before.rss[name]>>20, r.k.usage(name).RSS>>20))
	}
	r.say("memory before and after: %s", strings.Join(after, ", "))
	return context.Cause(ctx)
}

// profile saves the operator's heap profile and returns a note with its path.
func (r *runner) profile(ctx context.Context) string {
	heap, err := get(ctx, r.w.operatorURL()+"/debug/pprof/heap?gc=1", r.callers.reader)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.Out, "heap.pprof"), heap, 0o600)
	}
	if err != nil {
		return "; no profile: " + err.Error()
	}
	return "; its profile is heap.pprof in " + r.Out
}

// progress writes a progress line at a fixed interval.
func (r *runner) progress(ctx context.Context) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n := r.attacker.counted()
		q := r.callers.counted()
		var memory []string
		for _, name := range r.k.names() {
			u := r.k.usage(name)
			memory = append(memory, fmt.Sprintf("%s %d/%d MiB", name, u.RSS>>20, r.k.peakOf(name)>>20))
		}
		waits := ""
		if slow := r.tenant.slowest(); slow > r.Bound/2 {
			waits = fmt.Sprintf(" (one waits for %s)", slow.Round(time.Second))
		}
		r.say("objects %d stored, %d refused, %d changes, %d MB; %d requests; %d good changes%s; configuration %d MB; %s; found %d",
			n.created, n.refusals(), n.updated, n.bytes/1e6, q.total, r.tenant.changes(), waits, r.pod.size.Load()/1e6, strings.Join(memory, ", "), r.findings.count())
	}
}

func (c counts) refusals() int {
	n := 0
	for _, more := range c.refused {
		n += more
	}
	return n
}

func (r *runner) result() Result {
	out := Result{Findings: r.findings.list(), peak: map[string]int64{}, took: time.Since(r.began)}
	if r.attacker != nil {
		out.counts = r.attacker.counted()
	}
	if r.callers != nil {
		out.requests = r.callers.counted()
	}
	if r.checker != nil {
		out.reported, out.loaded, out.largest = r.checker.rejections, r.checker.loaded, r.checker.largest
	}
	if r.tenant != nil {
		out.tenant, out.changes = r.tenant.summary(), r.tenant.changes()
	}
	if r.pod != nil {
		out.reloads = r.pod.reloads.Load()
	}
	for _, name := range r.k.names() {
		out.peak[name] = r.k.peakOf(name)
	}
	return out
}

// Text returns the result in human-readable form.
func (r Result) Text() string {
	var b strings.Builder
	n := r.counts
	fmt.Fprintf(&b, "objects: %d stored (%d MB), %d changes, %d deletions; refused: %v\n", n.created, n.bytes/1e6, n.updated, n.deleted, n.refused)
	fmt.Fprintf(&b, "requests: %d, answers by code: %v; good ones: %d, slowest %s\n", r.requests.total, r.requests.codes, r.requests.good, r.requests.slowest.Round(time.Millisecond))
	fmt.Fprintf(&b, "rejections seen on objects: %d; configurations loaded: %d, the largest has %.1f MB; reloads: %d\n", r.reported, r.loaded, float64(r.largest)/1e6, r.reloads)
	fmt.Fprintf(&b, "good tenant:\n%s\n", r.tenant)
	for _, name := range slices.Sorted(maps.Keys(r.peak)) {
		fmt.Fprintf(&b, "%s: at most %d MiB\n", name, r.peak[name]>>20)
	}
	fmt.Fprintf(&b, "took %s; found %d\n", r.took.Round(time.Second), len(r.Findings))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "FOUND %s, %d times (objects %d to %d): %s\n", f.Kind, f.Times, f.From, f.To, excerpt.Of(f.Text, 400))
	}
	return b.String()
}
