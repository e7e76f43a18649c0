package delivery

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/queue"
)

const (
	// firstLook is the pause before the first request about a new content, by which time most pods
	// have it. Further pauses double.
	firstLook = 700 * time.Millisecond
	// lastLook and lastSilentLook bound the pauses.
	lastLook       = 30 * time.Second
	lastSilentLook = 5 * time.Minute
	// settledLook is the pause between requests to pods that are done: not every change inside a
	// pod shows in its object.
	settledLook = 15 * time.Minute
	// grace is how long a pod that ran the previous content still counts as running the wanted one:
	// anything shorter is not worth two status writes.
	grace = 10 * time.Second

	// quickLimit is the timeout of a request to a pod that is expected to respond, slowLimit to a
	// pod that has exceeded quickLimit.
	quickLimit = 500 * time.Millisecond
	slowLimit  = 2 * time.Second
)

// Mark is the wanted state of one pod. A pod is queried again when its mark changes.
type Mark struct {
	Hash       string // as in Annotation
	Version    string // identifies the content and the parameters of the requests
	UID        types.UID
	Containers string // identifies the address and the state of the containers
}

// Watcher tracks the outcome of contents in pods. All requests to pods go through it: frequently
// until a pod has applied its content, then occasionally. Unresponsive pods are remembered, queried
// rarely and served by separate workers, so they do not delay others. Create it with NewWatcher and
// start Run.
type Watcher struct {
	ask     func(ctx context.Context, pod types.NamespacedName, m Mark, limit time.Duration) (f Finding, inTime bool)
	changed func(pod types.NamespacedName)
	quick   *lane
	slow    *lane

	mu   sync.Mutex
	pods map[types.NamespacedName]*watched
}

// lane is a queue of pods and the timeout of requests to them.
type lane struct {
	queue *queue.Queue
	limit time.Duration
}

type watched struct {
	mark   Mark
	lane   *lane
	looks  int // since the last change
	last   Finding
	behind time.Time // time since which it may not run the wanted content; zero while it does
	good   Outcome   // the last outcome of an applied content
	loaded Loaded
	shown  Outcome
}

// Loaded is the content that a pod runs.
type Loaded struct {
	// Hash of the configuration, as in [Annotation]; empty if unknown.
	Hash string
	// Reload is the time of the last successful reload; zero if unknown.
	Reload time.Time
}

// outcome returns the outcome to report for the pod.
func (s *watched) outcome(now time.Time) Outcome {
	if s.good.Good() && !s.last.Good() && s.last.State != Refused && now.Sub(s.behind) < grace {
		return s.good
	}
	return s.last.Outcome
}

// left records that the pod may not run the wanted content.
func (s *watched) left(now time.Time) {
	if s.behind.IsZero() {
		s.behind, s.looks = now, 0
	}
}

// take stores a finding.
func (s *watched) take(f Finding, now time.Time) {
	if f.Good() {
		s.good, s.behind = f.Outcome, time.Time{}
	} else {
		s.left(now)
	}
	if f.State == Applied {
		s.loaded.Hash = s.mark.Hash
	}
	if !f.Reload.IsZero() {
		s.loaded.Reload = f.Reload
	}
	s.last = f
	s.looks++
}

// pause returns the time until the next request.
func (s *watched) pause() time.Duration {
	limit := lastLook
	switch {
	case s.last.Good():
		return time.Duration(float64(settledLook) * (0.9 + 0.2*rand.Float64())) // jitter
	case s.last.State == Silent:
		limit = lastSilentLook
	}
	return min(limit, firstLook<<min(max(s.looks-1, 0), 12))
}

// NewWatcher returns a watcher. ask queries a pod about the content of a mark, see Ask; changed is
// called when the outcome of a pod changes.
func NewWatcher(ask func(ctx context.Context, pod types.NamespacedName, m Mark, limit time.Duration) (f Finding, inTime bool),
	changed func(pod types.NamespacedName), reg prometheus.Registerer) *Watcher {
	w := &Watcher{ask: ask, changed: changed, pods: map[types.NamespacedName]*watched{}}
	for _, l := range []struct {
		lane  **lane
		limit time.Duration
	}{{&w.quick, quickLimit}, {&w.slow, slowLimit}} {
		*l.lane = &lane{queue.New(queue.Options{}), l.limit}
	}
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prometheus_operator_unreachable_pods",
		Help: "Pods that do not answer the operator, so their part of the condition ConfigApplied is unknown.",
	}, w.silent))
	return w
}

func (w *Watcher) silent() (n float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.pods {
		if s.last.State == Silent {
			n++
		}
	}
	return n
}

// Watch requests the outcome of a content in a pod. Another call with the same mark is a no-op. A
// new content does not cause an earlier request to a silent pod.
func (w *Watcher) Watch(pod types.NamespacedName, m Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.pods[pod]
	if s == nil || s.mark.UID != m.UID {
		s = &watched{lane: w.quick}
		w.pods[pod] = s
	}
	before := s.mark
	if before == m {
		return
	}
	s.mark = m
	if before.Version != m.Version {
		s.left(time.Now())
		if s.last.State != Refused && s.last.State != Silent { // both remain valid until the next finding
			s.last = Finding{}
		}
		s.last.Disk = Unknown
	}
	if s.last.State == Silent && before.Containers == m.Containers {
		return
	}
	if before.Containers != m.Containers {
		s.lane = w.quick
	}
	s.looks = 0
	s.lane.queue.AddAfter(pod, firstLook)
}

// Expect schedules an early request to a pod that was just patched.
func (w *Watcher) Expect(pod types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pods[pod]; s != nil && !s.last.Good() && s.last.State != Silent {
		s.looks = 0
		s.lane.queue.AddAfter(pod, firstLook)
	}
}

// Forget drops the state of a deleted pod.
func (w *Watcher) Forget(pod types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pods, pod)
}

// Outcome returns the last outcome of a pod.
func (w *Watcher) Outcome(pod types.NamespacedName) Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.pods[pod]
	if s == nil {
		return Outcome{}
	}
	s.shown = s.outcome(time.Now())
	return s.shown
}

// Loaded returns the configuration that a pod runs, according to its last findings.
func (w *Watcher) Loaded(pod types.NamespacedName) Loaded {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pods[pod]; s != nil {
		return s.loaded
	}
	return Loaded{}
}

// Disk returns whether a pod was last found to have a content on its disk.
func (w *Watcher) Disk(pod types.NamespacedName, hash string) Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pods[pod]; s != nil && s.mark.Hash == hash {
		return s.last.Disk
	}
	return Unknown
}

// Run queries pods until the context ends, with the given number of workers for responsive pods and
// as many for the others.
func (w *Watcher) Run(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	for _, l := range []*lane{w.quick, w.slow} {
		wg.Go(func() {
			l.queue.Run(ctx, workers, func(ctx context.Context, pod types.NamespacedName) { w.step(ctx, l, pod) })
		})
	}
	wg.Wait()
}

// step queries a pod and schedules the next request.
func (w *Watcher) step(ctx context.Context, l *lane, pod types.NamespacedName) {
	w.mu.Lock()
	s := w.pods[pod]
	if s == nil || s.lane != l { // deleted, or queued in the other lane
		w.mu.Unlock()
		return
	}
	mark := s.mark
	w.mu.Unlock()

	got, inTime := w.ask(ctx, pod, mark, l.limit)

	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.pods[pod] != s:
		return // a new pod has its own place in the queue
	case s.mark != mark:
		s.lane.queue.AddAfter(pod, firstLook)
		return
	case !inTime && l == w.quick:
		s.lane = w.slow
		s.lane.queue.Add(pod)
		return
	case inTime:
		s.lane = w.quick
	}
	now := time.Now()
	s.take(got, now)
	s.lane.queue.AddAfter(pod, s.pause())
	if s.outcome(now) != s.shown {
		w.changed(pod)
	}
}
