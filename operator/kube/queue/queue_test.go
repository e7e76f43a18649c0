package queue

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }

// work records when each key is processed, relative to start.
type work struct {
	mu      sync.Mutex
	start   time.Time
	at      map[string][]time.Duration
	running map[string]bool
	do      func(ctx context.Context, key types.NamespacedName)
}

// run starts workers; stop cancels them and waits for Run.
func (w *work) run(t *testing.T, q *Queue, workers int) (stop func()) {
	w.start, w.at, w.running = time.Now(), map[string][]time.Duration{}, map[string]bool{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx, workers, func(ctx context.Context, k types.NamespacedName) {
			w.mu.Lock()
			w.at[k.Name] = append(w.at[k.Name], time.Since(w.start))
			if w.running[k.Name] {
				t.Errorf("two workers on %s", k)
			}
			w.running[k.Name] = true
			w.mu.Unlock()
			if w.do != nil {
				w.do(ctx, k)
			}
			w.mu.Lock()
			w.running[k.Name] = false
			w.mu.Unlock()
		})
	}()
	return func() { cancel(); <-done }
}

func TestOneWorkerForEachKeyAndSeveralKeysAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{First: time.Second, Last: time.Minute})
		most := 0
		w := &work{}
		w.do = func(context.Context, types.NamespacedName) {
			w.mu.Lock()
			n := 0
			for _, is := range w.running {
				if is {
					n++
				}
			}
			most = max(most, n)
			w.mu.Unlock()
			time.Sleep(time.Second)
		}
		stop := w.run(t, q, 3)
		for range 5 {
			for _, name := range []string{"a", "b", "c", "d"} {
				q.Add(key(name))
			}
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		stop()
		if most != 3 {
			t.Errorf("%d keys at a time, want 3", most)
		}
	})
}

// A key that is added several times while it is processed is processed once more.
func TestAKeyAddedMeanwhileIsWorkedOnOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := New(Options{First: time.Second, Last: time.Minute}), &work{}
		w.do = func(context.Context, types.NamespacedName) {
			if len(w.at["a"]) == 1 {
				for range 3 {
					q.Add(key("a"))
				}
				time.Sleep(time.Second)
			}
		}
		stop := w.run(t, q, 4)
		q.Add(key("a"))
		q.Add(key("a"))
		time.Sleep(time.Hour)
		stop()
		if !slices.Equal(w.at["a"], []time.Duration{0, time.Second}) {
			t.Errorf("worked on at %v, want at once and when that was done", w.at["a"])
		}
	})
}

func TestPausesDoubleUntilForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := New(Options{First: time.Second, Last: 5 * time.Second}), &work{}
		w.do = func(context.Context, types.NamespacedName) {
			switch n := len(w.at["a"]); {
			case n < 6:
				q.Retry(key("a"), 0)
			case n == 6:
				q.Forget(key("a"))
				q.Retry(key("a"), 0)
			}
		}
		stop := w.run(t, q, 2)
		q.Add(key("a"))
		time.Sleep(time.Hour)
		stop()
		var pauses []time.Duration
		for i := range w.at["a"][1:] {
			pauses = append(pauses, w.at["a"][i+1]-w.at["a"][i])
		}
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second, time.Second}
		if !slices.Equal(pauses, want) {
			t.Errorf("pauses %v, want %v", pauses, want)
		}
	})
}

// A limit of pauses does not make later ones without a limit shorter.
func TestRetryWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := New(Options{First: time.Second, Last: time.Minute}), &work{}
		w.do = func(context.Context, types.NamespacedName) {
			if n := len(w.at["a"]); n < 6 {
				q.RetryWithin(key("a"), 0, 3*time.Second)
			} else if n == 6 {
				q.Retry(key("a"), 0)
			}
		}
		stop := w.run(t, q, 1)
		q.Add(key("a"))
		time.Sleep(time.Hour)
		stop()
		var pauses []int
		for i := range w.at["a"][1:] {
			pauses = append(pauses, int((w.at["a"][i+1] - w.at["a"][i]).Seconds()))
		}
		if want := []int{1, 2, 3, 3, 3, 32}; !slices.Equal(pauses, want) {
			t.Errorf("pauses of %d seconds, want %d", pauses, want)
		}
	})
}

// The pause starts again with each attempt that gets further than all before, and with no other.
func TestPausesStartAgainWithProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := New(Options{First: time.Second, Last: time.Minute}), &work{}
		reached := []int{5, 5, 6, 3, 6, 4, 7, 7, 7}
		w.do = func(context.Context, types.NamespacedName) {
			n := len(w.at["a"])
			if n == 9 {
				q.Forget(key("a")) // a success
			}
			if n <= len(reached) {
				q.Retry(key("a"), reached[n-1])
			}
		}
		stop := w.run(t, q, 2)
		q.Add(key("a"))
		time.Sleep(time.Hour)
		stop()
		var pauses []int
		for i := range w.at["a"][1:] {
			pauses = append(pauses, int((w.at["a"][i+1] - w.at["a"][i]).Seconds()))
		}
		if want := []int{1, 2, 1, 2, 4, 8, 1, 2, 1}; !slices.Equal(pauses, want) {
			t.Errorf("pauses of %d seconds, want %d", pauses, want)
		}
	})
}

// Another client that undoes each write makes attempts reach the same point again and again.
func TestUndoneWritesAreNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := New(Options{First: time.Second, Last: time.Minute}), &work{}
		w.do = func(context.Context, types.NamespacedName) { q.Retry(key("a"), 1+len(w.at["a"])%3) }
		stop := w.run(t, q, 2)
		q.Add(key("a"))
		time.Sleep(time.Hour)
		stop()
		if n := len(w.at["a"]); n > 70 {
			t.Errorf("%d attempts in an hour, with pauses of up to a minute", n)
		}
	})
}

func TestAddAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := New(Options{First: time.Second, Last: time.Minute}), &work{}
		stop := w.run(t, q, 1)
		q.AddAfter(key("a"), time.Minute)
		q.AddAfter(key("a"), time.Second) // the earlier time applies, once
		synctest.Wait()
		if n := q.Len(); n != 0 {
			t.Errorf("%d keys wait before their time", n)
		}
		time.Sleep(time.Hour)
		stop()
		if !slices.Equal(w.at["a"], []time.Duration{time.Second}) {
			t.Errorf("worked on at %v", w.at["a"])
		}
	})
}

// Run finishes the current work at the end and drops queued keys.
func TestRunReturnsWhenTheWorkersAreDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, finished := New(Options{First: time.Second, Last: time.Minute}), false
		w := &work{do: func(ctx context.Context, _ types.NamespacedName) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			finished = true
		}}
		stop := w.run(t, q, 1)
		q.Add(key("a"))
		q.Add(key("b"))
		q.AddAfter(key("c"), time.Second)
		synctest.Wait()
		if n := q.Len(); n != 1 {
			t.Errorf("%d keys wait, want 1", n)
		}
		stop()
		if !finished || len(w.at) != 1 {
			t.Errorf("Run returned, finished %t, worked on %v", finished, w.at)
		}
	})
}
