package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A burst is written immediately, then one write per pause, which is longer for a large document;
// after an idle period, another burst is possible.
func TestPace(t *testing.T) {
	start := time.Unix(0, 0)
	for bytes, pause := range map[int]time.Duration{0: time.Second, 300: 1003 * time.Millisecond, 900_000: 10 * time.Second, 8_000_000: paceMost} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			var p pace
			now := start
			loop := func(writes int) (took time.Duration) {
				from := now
				for range writes { // changes come much faster than they may be written
					if wait := p.wait(now); wait > 0 {
						now = now.Add(wait)
					}
					p.wrote(now, bytes)
				}
				return now.Sub(from)
			}
			credit := max((paceBurst-1)*pause, paceCredit)
			burst := 1 + int(credit/pause)
			if took := loop(burst); took != 0 {
				t.Errorf("a burst of %d took %v", burst, took)
			}
			if took, want := loop(20), time.Duration(burst+19)*pause-credit; took != want {
				t.Errorf("20 writes more took %v, want %v", took, want)
			}
			now = now.Add(pause)
			if took := loop(1); took != 0 {
				t.Errorf("a single write waited %v", took)
			}
			now = now.Add(time.Duration(burst) * pause)
			if took := loop(burst); took != 0 {
				t.Errorf("a burst after quiet took %v", took)
			}
		})
	}
}

// Each write costs a pause by its own size: small writes in between do not make large ones cheaper.
func TestPaceOfMixedSizes(t *testing.T) {
	var p pace
	start := time.Unix(0, 0)
	now, written := start, 0
	for i := range 200 {
		if wait := p.wait(now); wait > 0 {
			now = now.Add(wait)
		}
		bytes := 100 + i%2*900_000
		p.wrote(now, bytes)
		written += bytes
	}
	if most := int(now.Sub(start)/time.Second)*paceBytes + paceBurst*1_000_000; written > most {
		t.Errorf("%d bytes in %v, at most %d", written, now.Sub(start), most)
	}
}

// No write waits longer than paceMost, regardless of previous writes.
func TestPauseIsBounded(t *testing.T) {
	var p pace
	now := time.Unix(0, 0)
	for i := range 1000 {
		wait := p.wait(now)
		if wait > paceMost {
			t.Fatalf("write %d waits %v", i, wait)
		}
		now = now.Add(max(wait, 0))
		p.wrote(now, []int{8_000_000, 8_000_000, 100, 900_000, 8_000_000, 0, 0, 300_000}[i/5%8])
	}
}

// A loop of changes is processed at the limited rate without losing any, and an isolated change is
// not delayed. Other workloads are not delayed either.
func TestLoopKeepsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		paces, changed, seen := map[string]*pace{"a": {}, "b": {}}, 0, 0
		w := &scriptedKind{}
		w.pass = func(_ int, name string) (Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			paces[name].wrote(time.Now(), 0)
			if name == "a" {
				seen = changed
			}
			return Outcome{}, nil
		}
		l, _, _, stop := running(t, w, 1)
		l.kind.Paced = func(k types.NamespacedName) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return paces[k.Name].wait(time.Now())
		}
		for range 100 {
			mu.Lock()
			changed++
			mu.Unlock()
			l.enqueue(key("a"))
			time.Sleep(100 * time.Millisecond)
		}
		l.enqueue(key("b"))
		synctest.Wait()
		if n := len(w.passes["b"]); n != 1 {
			t.Errorf("another workload waits: %d passes", n)
		}
		time.Sleep(time.Minute)
		alone := time.Since(w.start)
		l.enqueue(key("a"))
		synctest.Wait()
		stop()
		passes := w.passes["a"]
		if n := len(passes); n < 40 || n > 44 { // 10 s: a burst of 31, and one each second
			t.Errorf("%d passes, at %v", n, passes)
		}
		if seen != changed {
			t.Errorf("the last pass saw change %d of %d", seen, changed)
		}
		if last := passes[len(passes)-1]; last != alone {
			t.Errorf("a single change waited %v", last-alone)
		}
	})
}

// A loop of changes of one rule causes writes of the configuration at the limited rate, and the
// last state wins. Changes of the workload itself are not delayed, and a deleted workload leaves no
// state.
func TestPaceOfAWorkload(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		c := b.start(nil, f)[0]
		b.after(time.Minute)
		configs := func() (n int) {
			for _, w := range b.written() {
				if strings.HasSuffix(w, " secrets team/ruler-a-config") {
					n++
				}
			}
			return n
		}
		configs()
		for i := range 100 {
			b.set(rule(fmt.Sprintf("r-%02d", i)))
			b.after(100 * time.Millisecond)
		}
		if n := configs(); n < 36 || n > 42 { // 10 s: a burst of 31, and one each second
			t.Errorf("%d writes of the configuration", n)
		}
		if strings.Contains(b.config("ruler-a-config"), "r-99") {
			t.Error("nothing waits: the test shows little")
		}
		b.set(ruler("a", func(r *v1.ThanosRuler) { r.Generation = 2 }))
		b.after(20 * time.Millisecond)
		if !strings.Contains(b.config("ruler-a-config"), "r-99") {
			t.Error("a change of the workload waits")
		}
		b.set(rule("r-extra"))
		b.after(time.Minute)
		if got := strings.Count(b.config("ruler-a-config"), "r-"); got != 101 {
			t.Errorf("the configuration has %d of 101 rules", got)
		}
		b.gone(ruler("a"))
		b.settle()
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.memory) > 0 {
			t.Errorf("%d workloads are remembered", len(c.memory))
		}
	})
}
