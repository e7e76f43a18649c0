package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }

// scriptedKind is a kind whose reconciliations are controlled by the test. All fields are guarded.
type scriptedKind struct {
	mu       sync.Mutex
	gone     map[string]bool
	pass     func(n int, name string) (Outcome, error) // n counts the passes of one key from 1
	status   func(n int, name string, r Result, known bool) error
	passes   map[string][]time.Duration // time since the start
	statuses map[string][]Result
	start    time.Time
	running  map[string]int
}

func (w *scriptedKind) kind(t *testing.T) loopKind {
	w.start = time.Now()
	w.gone, w.running = map[string]bool{}, map[string]int{}
	w.passes, w.statuses = map[string][]time.Duration{}, map[string][]Result{}
	return loopKind{
		Name: "prometheus",
		Reconcile: func(_ context.Context, k types.NamespacedName) (Outcome, error) {
			w.mu.Lock()
			w.passes[k.Name] = append(w.passes[k.Name], time.Since(w.start))
			n, pass := len(w.passes[k.Name]), w.pass
			if w.running[k.Name]++; w.running[k.Name] > 1 {
				t.Errorf("two passes of %s at the same time", k)
			}
			w.mu.Unlock()
			defer func() {
				w.mu.Lock()
				w.running[k.Name]--
				w.mu.Unlock()
			}()
			if pass == nil {
				return Outcome{}, nil
			}
			return pass(n, k.Name)
		},
		Status: func(_ context.Context, k types.NamespacedName, r Result, known bool) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.statuses[k.Name] = append(w.statuses[k.Name], r)
			if w.status != nil {
				return w.status(len(w.statuses[k.Name]), k.Name, r, known)
			}
			return nil
		},
		Version: func(k types.NamespacedName) (Version, bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return Version{}, !w.gone[k.Name]
		},
	}
}

// running starts a loop inside a bubble of synthetic time; stop ends it and waits.
func running(t *testing.T, w *scriptedKind, workers int) (l *loop, reg *prometheus.Registry, log *strings.Builder, stop func()) {
	reg, log = prometheus.NewRegistry(), &strings.Builder{}
	l = newLoop(w.kind(t), slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), newMetrics(reg, "prometheus"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.Run(ctx, workers); close(done) }()
	return l, reg, log, func() { cancel(); <-done }
}

func counter(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.Metric[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func TestFailedPassesAreRepeatedWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(n int, _ string) (Outcome, error) {
			if n < 5 {
				return Outcome{}, errors.New("not yet")
			}
			return Outcome{Reason: "Fine"}, nil
		}}
		l, reg, log, stop := running(t, w, 2)
		l.enqueue(key("a"))
		time.Sleep(time.Hour)
		stop()
		want := []time.Duration{0, 200 * time.Millisecond, 600 * time.Millisecond, 1400 * time.Millisecond, 3000 * time.Millisecond}
		if len(w.passes["a"]) != len(want) {
			t.Fatalf("passes at %v", w.passes["a"])
		}
		for i := range want {
			if w.passes["a"][i] != want[i] {
				t.Errorf("pass %d at %s, want %s", i+1, w.passes["a"][i], want[i])
			}
		}
		if r, ok := l.Result(key("a")); !ok || r.Err != nil || r.Reason != "Fine" {
			t.Errorf("result %+v, %v", r, ok)
		}
		if n := strings.Count(log.String(), "reconciliation failed"); n != 4 || !strings.Contains(log.String(), "key=ns/a") {
			t.Errorf("the log has %d failures:\n%s", n, log)
		}
		if all, failed := counter(t, reg, "prometheus_operator_reconcile_operations_total"), counter(t, reg, "prometheus_operator_reconcile_errors_total"); all != 5 || failed != 4 {
			t.Errorf("%v passes, %v errors", all, failed)
		}
	})
}

// TestAConflictIsNoFault: concurrent writes by two clients are retried without an error in the log.
func TestAConflictIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conflict := apierrors.NewConflict(schema.GroupResource{Resource: "statefulsets"}, "prometheus-a", errors.New("the object has been modified"))
		w := &scriptedKind{pass: func(n int, _ string) (Outcome, error) {
			if n < 2 {
				return Outcome{}, fmt.Errorf("update StatefulSet: %w", conflict)
			}
			return Outcome{}, nil
		}}
		l, _, log, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Minute)
		stop()
		if at := w.passes["a"]; len(at) != 2 || at[1] != firstRetry {
			t.Errorf("passes at %v", at)
		}
		if text := log.String(); strings.Contains(text, "level=ERROR") || strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "another client changes an object") {
			t.Errorf("log:\n%s", text)
		}
	})
}

func TestASuccessEndsTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(n int, _ string) (Outcome, error) {
			if n == 1 || n == 3 {
				return Outcome{}, errors.New("no")
			}
			return Outcome{}, nil
		}}
		l, _, _, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Minute)
		l.enqueue(key("a"))
		time.Sleep(time.Minute)
		stop()
		if at := w.passes["a"]; len(at) != 4 || at[3]-at[2] != firstRetry {
			t.Errorf("passes at %v", at)
		}
	})
}

func TestPausesHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(int, string) (Outcome, error) { return Outcome{}, errors.New("never") }}
		l, _, _, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(2 * time.Hour)
		stop()
		at := w.passes["a"]
		if last := at[len(at)-1] - at[len(at)-2]; last != lastRetry {
			t.Errorf("last pause %s, want %s", last, lastRetry)
		}
	})
}

// An API server that is away for long does not make the pauses after it longer.
func TestPausesWhileTheAPIServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := fmt.Errorf("update Secret: %w", &url.Error{Op: "Put", URL: "https://api.example", Err: syscall.ECONNREFUSED})
		w := &scriptedKind{pass: func(int, string) (Outcome, error) { return Outcome{}, gone }}
		w.status = func(int, string, Result, bool) error { return gone }
		l, _, _, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(2 * time.Hour)
		stop()
		at := w.passes["a"]
		if at[1]-at[0] != firstRetry || at[len(at)-1]-at[len(at)-2] != awayRetry {
			t.Errorf("passes at %v", at[len(at)-3:])
		}
	})
}

func TestWaitErrorSaysWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(n int, _ string) (Outcome, error) {
			if n < 3 {
				return Outcome{}, fmt.Errorf("shard 2: %w", &WaitError{For: 7 * time.Second, Reason: "pods are still going"})
			}
			return Outcome{}, nil
		}}
		l, reg, log, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Minute)
		stop()
		if at := w.passes["a"]; len(at) != 3 || at[1] != 7*time.Second || at[2] != 14*time.Second {
			t.Errorf("passes at %v", at)
		}
		if n := counter(t, reg, "prometheus_operator_reconcile_errors_total"); n != 0 || strings.Contains(log.String(), "failed") {
			t.Errorf("waiting counts as %v failures:\n%s", n, log)
		}
	})
}

// A failure that is joined with a wait is reported as a failure.
func TestAFailureBesideAWaitIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(int, string) (Outcome, error) {
			return Outcome{}, errors.Join(errors.New("too large"), &WaitError{For: time.Hour, Reason: "a conflict"})
		}}
		l, reg, log, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Second)
		stop()
		if n := counter(t, reg, "prometheus_operator_reconcile_errors_total"); n < 2 || !strings.Contains(log.String(), "too large") {
			t.Errorf("%v failures:\n%s", n, log)
		}
	})
}

func TestAPanicStaysWithItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{
			pass: func(n int, name string) (Outcome, error) {
				if name == "bad" && n == 1 {
					panic("in the pass")
				}
				return Outcome{}, nil
			},
			status: func(n int, name string, _ Result, _ bool) error {
				if name == "worse" && n == 1 {
					panic("in status")
				}
				return nil
			},
		}
		l, _, log, stop := running(t, w, 1)
		for _, name := range []string{"bad", "worse", "good"} {
			l.enqueue(key(name))
		}
		time.Sleep(time.Minute)
		stop()
		if len(w.passes["bad"]) != 2 || len(w.passes["good"]) != 1 || len(w.statuses["good"]) == 0 || len(w.statuses["worse"]) != 2 {
			t.Errorf("passes %v, statuses %v", w.passes, w.statuses)
		}
		if first := w.statuses["bad"][0]; first.Err == nil || !strings.Contains(first.Err.Error(), "internal error") {
			t.Errorf("first status of bad: %+v", first)
		}
		if strings.Count(log.String(), "reconciliation panicked") != 2 || !strings.Contains(log.String(), "loop_test.go") {
			t.Errorf("log:\n%s", log)
		}
	})
}

func TestStatusFollowsEveryPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("disk on fire")
		w := &scriptedKind{pass: func(n int, _ string) (Outcome, error) {
			if n == 1 {
				return Outcome{}, failed
			}
			return Outcome{}, nil
		}}
		l, _, _, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Minute)
		stop()
		if s := w.statuses["a"]; len(s) != 2 || !errors.Is(s[0].Err, failed) || s[1].Err != nil {
			t.Errorf("statuses %+v", s)
		}
	})
}

func TestStatusIsCoalescedAndRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{status: func(n int, _ string, _ Result, known bool) error {
			if known {
				return errors.New("known before the first pass")
			}
			if n == 1 {
				return errors.New("conflict")
			}
			return nil
		}}
		l, reg, _, stop := running(t, w, 1)
		for range 50 {
			l.enqueueStatus(key("a"))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		stop()
		if n := len(w.statuses["a"]); n != 2 {
			t.Errorf("%d statuses: one failed, one right", n)
		}
		if all, failed := counter(t, reg, "prometheus_operator_status_update_operations_total"), counter(t, reg, "prometheus_operator_status_update_errors_total"); all != 2 || failed != 1 {
			t.Errorf("%v status passes, %v errors", all, failed)
		}
	})
}

func TestEventsDuringAPassGiveOneMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := &scriptedKind{pass: func(n int, name string) (Outcome, error) {
			if n == 1 && name == "slow" {
				<-release
			}
			return Outcome{}, nil
		}}
		l, _, _, stop := running(t, w, 3)
		l.enqueue(key("slow"))
		synctest.Wait()
		for range 20 {
			l.enqueue(key("slow"))
		}
		l.enqueue(key("other"))
		synctest.Wait()
		if len(w.passes["slow"]) != 1 || len(w.passes["other"]) != 1 {
			t.Errorf("while one pass is slow: %v", w.passes)
		}
		close(release)
		synctest.Wait()
		if n := len(w.passes["slow"]); n != 2 {
			t.Errorf("%d passes, want 2", n)
		}
		stop()
	})
}

func TestOwnersThatAreGoneAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(_ int, name string) (Outcome, error) {
			if name == "bad" {
				return Outcome{}, errors.New("no")
			}
			return Outcome{}, nil
		}}
		l, reg, _, stop := running(t, w, 1)
		l.enqueue(key("good"))
		l.enqueue(key("bad"))
		time.Sleep(time.Second)
		const text = `
# HELP prometheus_operator_syncs Workloads by the result of their last reconciliation.
# TYPE prometheus_operator_syncs gauge
prometheus_operator_syncs{controller="prometheus",status="failed"} %d
prometheus_operator_syncs{controller="prometheus",status="ok"} %d
`
		if err := testutil.GatherAndCompare(reg, strings.NewReader(fmt.Sprintf(text, 1, 1)), "prometheus_operator_syncs"); err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		w.gone["bad"], w.gone["good"] = true, true
		w.mu.Unlock()
		l.enqueue(key("good"))
		time.Sleep(10 * time.Minute)
		if err := testutil.GatherAndCompare(reg, strings.NewReader(fmt.Sprintf(text, 0, 0)), "prometheus_operator_syncs"); err != nil {
			t.Error(err)
		}
		if _, known := l.Result(key("good")); known {
			t.Error("a result is kept of an owner that is gone")
		}
		stop()
	})
}

// Run lets a running pass finish, starts no other, and leaks no goroutines.
func TestStop(t *testing.T) {
	defer goleak.VerifyNone(t)
	entered, release := make(chan struct{}), make(chan struct{})
	w := &scriptedKind{pass: func(int, string) (Outcome, error) {
		close(entered)
		<-release
		return Outcome{}, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	l := newLoop(w.kind(t), slog.New(slog.DiscardHandler), newMetrics(prometheus.NewRegistry(), "prometheus"))
	done := make(chan struct{})
	go func() { l.Run(ctx, 1); close(done) }()
	l.enqueue(key("a"))
	<-entered
	l.enqueue(key("b"))
	cancel()
	select {
	case <-done:
		t.Fatal("Run returned while a pass was running")
	default:
	}
	close(release)
	<-done
	if len(w.passes["b"]) != 0 {
		t.Error("a pass was started after the stop")
	}
}

// An error that a retry cannot resolve is not retried, but counts as a failure.
func TestAnInvalidOwnerWaitsForAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(int, string) (Outcome, error) {
			return Outcome{}, fmt.Errorf("gather: %w", &InvalidError{Err: errors.New("spec.version: not a version")})
		}}
		l, reg, log, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Minute)
		l.enqueue(key("a"))
		time.Sleep(time.Hour)
		stop()
		if want := []time.Duration{0, time.Minute}; !slices.Equal(w.passes["a"], want) {
			t.Errorf("passes at %v, want %v", w.passes["a"], want)
		}
		if n := counter(t, reg, "prometheus_operator_reconcile_errors_total"); n != 2 {
			t.Errorf("%v failures", n)
		}
		if said := strings.Count(log.String(), "spec.version: not a version"); said != 1 || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("it is said %d times:\n%s", said, log)
		}
	})
}

// An error whose resolution triggers no event is retried periodically and logged once.
func TestAnInvalidOwnerIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{pass: func(n int, _ string) (Outcome, error) {
			if n > 2 {
				return Outcome{}, nil
			}
			return Outcome{}, fmt.Errorf("write: %w", foreign(&apply.ForeignError{Kind: "Secret", Name: "a"}))
		}}
		l, _, log, stop := running(t, w, 1)
		l.enqueue(key("a"))
		time.Sleep(time.Hour)
		stop()
		if want := []time.Duration{0, foreignLook, 2 * foreignLook}; !slices.Equal(w.passes["a"], want) {
			t.Errorf("passes at %v, want %v", w.passes["a"], want)
		}
		if said := strings.Count(log.String(), `was not created by this operator`); said != 1 || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("it is said %d times:\n%s", said, log)
		}
	})
}
