package delivery

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

const (
	// firstLook is the pause before a pod is asked about a new content: most have
	// it then.
	firstLook = 700 * time.Millisecond
	// lastLook and lastSilentLook bound the pauses, which double.
	lastLook       = 30 * time.Second
	lastSilentLook = 5 * time.Minute
	// grace is how long a pod that ran the content before still counts as running
	// the wanted one: a change of which nobody would see more than its passing is
	// not worth two writes of a status.
	grace = 10 * time.Second
)

// Watcher knows what became of contents in pods. It asks a pod until it has
// applied its content, and never again until there is another one. Create it with
// NewWatcher and start Run.
type Watcher struct {
	ask     func(ctx context.Context, pod types.NamespacedName, hash string) Outcome
	changed func(pod types.NamespacedName)
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]

	mu   sync.Mutex
	pods map[types.NamespacedName]*watched
}

type watched struct {
	hash   string
	looks  int // for hash
	last   Outcome
	behind time.Time // since when it may not run what is wanted; zero while it does
	ran    bool      // some content was applied
	shown  Outcome
}

// outcome is what is shown of the pod.
func (w *watched) outcome(now time.Time) Outcome {
	if w.ran && (w.last.State == Waiting || w.last.State == NotAsked) && now.Sub(w.behind) < grace {
		return Outcome{State: Applied}
	}
	return w.last
}

// NewWatcher returns a watcher. ask asks a pod about the content with a hash;
// changed is told of pods with another outcome.
func NewWatcher(ask func(ctx context.Context, pod types.NamespacedName, hash string) Outcome, changed func(pod types.NamespacedName)) *Watcher {
	return &Watcher{
		ask: ask, changed: changed, queue: workqueue.NewTypedDelayingQueue[types.NamespacedName](), pods: map[types.NamespacedName]*watched{},
	}
}

// Watch asks for the outcome of a content in a pod. Calling it again with the same
// hash changes nothing.
func (w *Watcher) Watch(pod types.NamespacedName, hash string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.pods[pod]
	if s == nil {
		s = &watched{}
		w.pods[pod] = s
	}
	if s.hash == hash {
		return
	}
	if s.behind.IsZero() {
		s.behind = time.Now()
	}
	s.hash, s.looks = hash, 0
	if s.last.State != Refused { // which stands until it is known better
		s.last = Outcome{}
	}
	w.queue.AddAfter(pod, firstLook)
}

// Forget drops a pod that is gone, or whose containers start anew.
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

// Run asks until the context ends.
func (w *Watcher) Run(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				pod, shutdown := w.queue.Get()
				if shutdown {
					return
				}
				if ctx.Err() == nil {
					w.step(ctx, pod)
				}
				w.queue.Done(pod)
			}
		})
	}
	<-ctx.Done()
	w.queue.ShutDown()
	wg.Wait()
}

// step asks a pod that is not settled, and decides when to look again.
func (w *Watcher) step(ctx context.Context, pod types.NamespacedName) {
	w.mu.Lock()
	s := w.pods[pod]
	if s == nil || s.last.State == Applied {
		w.mu.Unlock()
		return
	}
	hash := s.hash
	w.mu.Unlock()

	got := w.ask(ctx, pod, hash)

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods[pod] != s || s.hash != hash {
		return // who changed it has asked for another look
	}
	s.last = got
	s.looks++
	limit := lastLook
	switch got.State {
	case Applied:
		s.ran, s.behind = true, time.Time{}
	case Silent:
		limit = lastSilentLook
	}
	if got.State != Applied {
		w.queue.AddAfter(pod, min(limit, firstLook<<min(s.looks, 12)))
	}
	if s.outcome(time.Now()) != s.shown {
		w.changed(pod)
	}
}
