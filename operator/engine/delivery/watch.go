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
	// firstLook is the pause before a pod is asked about a new content: most have
	// it then. Further pauses double.
	firstLook = 700 * time.Millisecond
	// lastLook and lastSilentLook bound the pauses.
	lastLook       = 30 * time.Second
	lastSilentLook = 5 * time.Minute
	// settledLook is the pause after which a pod with nothing left to do is asked all
	// the same: not everything that happens in a pod shows in its object.
	settledLook = 15 * time.Minute
	// grace is how long a pod that ran the content before still counts as running
	// the wanted one: anything shorter is not worth two status writes.
	grace = 10 * time.Second

	// quickLimit bounds a question to a pod that is expected to answer, slowLimit one
	// to a pod that did not answer within the former.
	quickLimit = 500 * time.Millisecond
	slowLimit  = 2 * time.Second
)

// Mark says which pod should have what. A pod is asked again when its mark changes.
type Mark struct {
	Hash       string // as in Annotation
	Version    string // stands for the content and the way to ask
	UID        types.UID
	Containers string // stands for the address and the state of the containers
}

// Watcher knows what became of contents in pods. It is the only one that asks pods,
// each until it has applied its content, and then now and then. Pods that do not
// answer are remembered and asked seldom, and by workers of their own: they hold up
// nobody. Create it with NewWatcher and start Run.
type Watcher struct {
	ask     func(ctx context.Context, pod types.NamespacedName, m Mark, limit time.Duration) (f Finding, inTime bool)
	changed func(pod types.NamespacedName)
	quick   *lane
	slow    *lane

	mu   sync.Mutex
	pods map[types.NamespacedName]*watched
}

// lane is a queue of pods and how long they are waited for.
type lane struct {
	queue *queue.Queue
	limit time.Duration
}

type watched struct {
	mark   Mark
	lane   *lane
	looks  int // since something changed
	last   Finding
	behind time.Time // since when it may not run what is wanted; zero while it does
	good   Outcome   // the last one of a content that was applied
	loaded Loaded
	shown  Outcome
}

// Loaded is what a pod runs.
type Loaded struct {
	// Hash of the configuration, as in [Annotation]; empty when it is not known.
	Hash string
	// Reload is the time of the last successful reload; zero when it is not known.
	Reload time.Time
}

// outcome is what is shown of the pod.
func (s *watched) outcome(now time.Time) Outcome {
	if s.good.Good() && !s.last.Good() && s.last.State != Refused && now.Sub(s.behind) < grace {
		return s.good
	}
	return s.last.Outcome
}

// left notes that the pod may not run what is wanted.
func (s *watched) left(now time.Time) {
	if s.behind.IsZero() {
		s.behind, s.looks = now, 0
	}
}

// take keeps an answer.
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

// pause is how long to wait before the next question.
func (s *watched) pause() time.Duration {
	limit := lastLook
	switch {
	case s.last.Good():
		return time.Duration(float64(settledLook) * (0.9 + 0.2*rand.Float64())) // not all at once
	case s.last.State == Silent:
		limit = lastSilentLook
	}
	return min(limit, firstLook<<min(max(s.looks-1, 0), 12))
}

// NewWatcher returns a watcher. ask asks a pod about the content of a mark, see Ask;
// changed is called for pods with another outcome.
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

// Watch asks for the outcome of a content in a pod. Calling it again with the same
// mark changes nothing. A silent pod is not asked sooner because of a new content.
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
		if s.last.State != Refused && s.last.State != Silent { // which stand until it is known better
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

// Expect has a pod asked soon: it was told of a content.
func (w *Watcher) Expect(pod types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pods[pod]; s != nil && !s.last.Good() && s.last.State != Silent {
		s.looks = 0
		s.lane.queue.AddAfter(pod, firstLook)
	}
}

// Forget drops a pod that is gone.
func (w *Watcher) Forget(pod types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pods, pod)
}

// Outcome is what is known of a pod.
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

// Loaded is what is known of what a pod runs.
func (w *Watcher) Loaded(pod types.NamespacedName) Loaded {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pods[pod]; s != nil {
		return s.loaded
	}
	return Loaded{}
}

// Disk is what is known of a content on the disk of a pod.
func (w *Watcher) Disk(pod types.NamespacedName, hash string) Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pods[pod]; s != nil && s.mark.Hash == hash {
		return s.last.Disk
	}
	return Unknown
}

// Run asks until the context ends, with that many workers for pods that answer and
// for pods that do not.
func (w *Watcher) Run(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	for _, l := range []*lane{w.quick, w.slow} {
		wg.Go(func() {
			l.queue.Run(ctx, workers, func(ctx context.Context, pod types.NamespacedName) { w.step(ctx, l, pod) })
		})
	}
	wg.Wait()
}

// step asks a pod, and decides when to ask again.
func (w *Watcher) step(ctx context.Context, l *lane, pod types.NamespacedName) {
	w.mu.Lock()
	s := w.pods[pod]
	if s == nil || s.lane != l { // gone, or waiting in the other one
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
		return // a new one waits for its own turn
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
