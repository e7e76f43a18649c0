package engine

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// refusing refuses each different request that match accepts some times, and counts all of them.
type refusing struct {
	match func(call) bool
	times int

	mu   sync.Mutex
	seen map[string]int
}

func (r *refusing) answer(c call) *metav1.Status {
	if !r.match(c) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if r.seen[c.String()]++; r.seen[c.String()] <= r.times {
		return failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, c)
	}
	return nil
}

func (r *refusing) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.seen {
		n += one
	}
	return n
}

// Each of many writes fails twice. All of it is done soon, because each attempt that got further than the last ones is
// repeated after the first pause.
func TestProgressIsRepeatedSoon(t *testing.T) {
	const reads, soon = 6, 15 * time.Second // with pauses that double all the time, it took half an hour
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		w := ruler("a")
		for i := range reads {
			name := fmt.Sprint("login-", i)
			b.set(secretOf(name, ""))
			w.Annotations["secrets"] += " " + name
		}
		b.set(w)
		b.set(rule("alerts"))
		r := &refusing{times: 2, match: func(c call) bool {
			return strings.HasPrefix(c.String(), "create ") && c.resource != "events" || strings.HasPrefix(c.String(), "get secrets team/login-")
		}}
		b.answers(r.answer)
		b.start(nil, f)
		b.after(soon)
		if got := b.condition("a", v1.Reconciled); got != "True" {
			t.Errorf("Reconciled %s", got)
		}
		if want := []string{"create secrets team/ruler-a-config", "create secrets team/ruler-a-web", "create services team/operated", "create statefulsets team/ruler-a"}; fmt.Sprint(b.written()) != fmt.Sprint(want) {
			t.Errorf("wrote %q", b.written())
		}
		if n := r.total(); n < 3*(reads+4) {
			t.Errorf("%d requests, so it did not test this", n)
		}
	})
}

// A write that is never accepted is tried ever more rarely, although what precedes it succeeds each time.
func TestNoProgressIsRepeatedRarely(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		b.refusing("create services", http.StatusInternalServerError, metav1.StatusReasonInternalError)
		b.start(nil, f)
		b.after(time.Hour)
		if n := f.of("a"); n > 25 {
			t.Errorf("%d attempts in an hour", n)
		}
	})
}

// The same for bindings: each is refused once, and one of them always.
func TestProgressOfBindings(t *testing.T) {
	const rules = 60 // eight are written at a time
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		for i := range rules {
			b.set(rule(fmt.Sprintf("alerts-%04d", i)))
		}
		b.set(ruler("a"))
		r := &refusing{times: 1, match: func(c call) bool { return c.resource == "prometheusrules" && c.sub == "status" }}
		b.answers(func(c call) *metav1.Status {
			if r.match(c) {
				time.Sleep(10 * time.Millisecond) // so that the others of the eight are under way when one fails
			}
			return r.answer(c)
		})
		b.start(nil, f)
		b.after(10 * time.Second)
		for i := range rules {
			if name := fmt.Sprintf("alerts-%04d", i); b.bound(name) != "thanosrulers/a=True" {
				t.Errorf("%s has the bindings %q", name, b.bound(name))
			}
		}
		before := r.total()
		b.answers(func(c call) *metav1.Status {
			if r.match(c) {
				r.answer(c)
				return failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, c)
			}
			return nil
		})
		edit(b, "prometheusrules", "alerts-0000", func(w *v1.PrometheusRule) { w.Generation++ })
		b.after(time.Hour)
		if n := r.total() - before; n == 0 || n > 25 {
			t.Errorf("%d writes in an hour", n)
		}
	})
}
