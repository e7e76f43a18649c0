package startup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var leases = schema.GroupResource{Resource: "leases"}

// lease is a Lease at a fake API server.
type lease struct {
	mu      sync.Mutex
	version int // 0: does not exist
	record  resourcelock.LeaderElectionRecord
}

// holder is the connection of one operator to a lease.
type holder struct {
	*lease
	name string
	seen int

	cut    bool          // requests do not arrive
	slow   time.Duration // delay of responses
	denied bool
}

func (h *holder) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.denied:
		return nil, nil, apierrors.NewForbidden(leases, "lease", nil)
	case h.cut:
		return nil, nil, errors.New("connection refused")
	case h.version == 0:
		return nil, nil, apierrors.NewNotFound(leases, "lease")
	}
	h.seen = h.version
	record := h.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (h *holder) write(r resourcelock.LeaderElectionRecord) error {
	h.mu.Lock()
	slow := h.slow
	defer func() { h.mu.Unlock(); time.Sleep(slow) }()
	switch {
	case h.cut:
		return errors.New("connection refused")
	case h.seen != h.version:
		return apierrors.NewConflict(leases, "lease", nil)
	}
	h.version++
	h.seen, h.record = h.version, r
	return nil
}

func (h *holder) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	return h.write(r)
}
func (h *holder) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	return h.write(r)
}
func (h *holder) RecordEvent(string)   {}
func (h *holder) Identity() string     { return h.name }
func (h *holder) Describe() string     { return "ns/lease" }
func (h *holder) set(do func(*holder)) { h.mu.Lock(); defer h.mu.Unlock(); do(h) }

// candidate is one of several operators.
type candidate struct {
	*Leader
	*holder
	stop  context.CancelFunc
	ended chan error
}

// campaign starts an operator that only campaigns.
func campaign(t *testing.T, l *lease, name string) *candidate {
	c := &candidate{holder: &holder{lease: l, name: name}, ended: make(chan error, 1)}
	c.Leader = elected(c.holder, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	go func() {
		c.ended <- c.While(ctx, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
	}()
	return c
}

// leaders returns the names of the candidates that may write.
func leaders(all ...*candidate) string {
	var out []string
	for _, c := range all {
		if c.Leads() {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, " ")
}

// becomes waits until want is the only leader and returns how long it took. It fails if
// two lead at the same time.
func becomes(t *testing.T, want *candidate, all ...*candidate) time.Duration {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		switch got := leaders(all...); {
		case got == want.name:
			return time.Since(began)
		case strings.Contains(got, " ") || time.Since(began) > time.Minute:
			t.Fatalf("after %s %q lead", time.Since(began), got)
		}
	}
}

// A leader that is stopped hands over within 3 s and exits without an error.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		a := campaign(t, l, "a")
		becomes(t, a, a)
		b := campaign(t, l, "b")
		time.Sleep(time.Minute)
		if got := leaders(a, b); got != "a" {
			t.Fatalf("%q lead", got)
		}
		a.stop()
		if took := becomes(t, b, a, b); took > 3*time.Second {
			t.Errorf("b leads after %s", took)
		}
		if err := <-a.ended; err != nil {
			t.Error(err)
		}
		b.stop()
		if err := <-b.ended; err != nil || l.record.HolderIdentity != "" {
			t.Errorf("%v; the Lease is held by %q", err, l.record.HolderIdentity)
		}
	})
}

// A leader that is killed or cannot reach the API server is replaced within 20 s. It stops
// writing at least 3 s earlier and exits with an error.
func TestKill(t *testing.T) {
	for name, slow := range map[string]time.Duration{"at once": 0, "after slow answers": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lease{}
				a := campaign(t, l, "a")
				becomes(t, a, a)
				b := campaign(t, l, "b")
				a.set(func(h *holder) { h.slow = slow })
				time.Sleep(30 * time.Second)
				began := time.Now()
				a.set(func(h *holder) { h.cut = true })
				for a.Leads() {
					time.Sleep(10 * time.Millisecond)
				}
				silent := time.Now()
				if err := <-a.ended; !errors.Is(err, errLeadLost) {
					t.Errorf("a ended with %v", err)
				}
				becomes(t, b, a, b)
				if took := time.Since(began); took > 20*time.Second || time.Since(silent) < 3*time.Second {
					t.Errorf("b leads after %s, %s after a stopped to write", took, time.Since(silent))
				}
				b.stop()
				<-b.ended
			})
		})
	}
}

// The API server accepts a renewal whose response arrives when another operator leads.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		a := campaign(t, l, "a")
		becomes(t, a, a)
		b := campaign(t, l, "b")
		time.Sleep(10 * time.Second)
		a.set(func(h *holder) { h.slow = time.Minute })
		becomes(t, b, a, b)
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			if got := leaders(a, b); got != "b" {
				t.Fatalf("%q lead", got)
			}
		}
		if err := <-a.ended; !errors.Is(err, errLeadLost) {
			t.Errorf("a ended with %v", err)
		}
		b.stop()
		<-b.ended
	})
}

// With many operators that start together and are stopped and cut off in turn, at most one
// leads at any time.
func TestRivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		all := map[string]*candidate{}
		for i := range 30 {
			for len(all) < 3 {
				name := fmt.Sprintf("%d-%d", i, len(all))
				all[name] = campaign(t, l, name)
			}
			var now *candidate
			for began := time.Now(); now == nil; time.Sleep(10 * time.Millisecond) {
				for _, c := range all {
					if c.Leads() && now != nil {
						t.Fatalf("%s and %s lead", now.name, c.name)
					} else if c.Leads() {
						now = c
					}
				}
				if time.Since(began) > 20*time.Second {
					t.Fatal("nobody leads")
				}
			}
			if delete(all, now.name); i%2 == 0 {
				now.stop()
			} else {
				now.set(func(h *holder) { h.cut = true })
			}
			if err := <-now.ended; (err != nil) != (i%2 == 1) {
				t.Errorf("%s ended with %v", now.name, err)
			}
		}
		for _, c := range all {
			c.stop()
			<-c.ended
		}
	})
}

func TestAlone(t *testing.T) {
	l := Alone()
	failed := errors.New("failed")
	if err := l.While(t.Context(), func(context.Context) error { return failed }); !errors.Is(err, failed) || !l.Leads() || !l.Await(t.Context()) {
		t.Errorf("%v", err)
	}
	reg := prometheus.NewRegistry()
	l.Register(reg)
	elected(&holder{lease: &lease{}, name: "a"}, slog.New(slog.DiscardHandler)).Register(prometheus.WrapRegistererWith(prometheus.Labels{"of": "a"}, prometheus.NewRegistry()))
	if err := testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP prometheus_operator_leader 1 while this operator reconciles and writes, 0 while it waits for the Lease of --leader-elect.
# TYPE prometheus_operator_leader gauge
prometheus_operator_leader 1
`)); err != nil {
		t.Error(err)
	}
}

// Without permission to read the Lease the operator fails instead of waiting for it.
func TestReadable(t *testing.T) {
	h := &holder{lease: &lease{}, name: "a"}
	l := elected(h, slog.New(slog.DiscardHandler))
	if err := l.readable(t.Context()); err != nil {
		t.Errorf("no Lease yet: %v", err)
	}
	h.denied = true
	if err := l.readable(t.Context()); err == nil || !strings.Contains(err.Error(), "read the Lease ns/lease: ") {
		t.Errorf("forbidden: %v", err)
	}
}
