package insight_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// slow is a cluster in which each list takes a fixed time.
type slow struct {
	*versioned
	each time.Duration
}

// List implements [readers.Reader].
func (s *slow) List(ctx context.Context, q readers.Query) ([]readers.Object, error) {
	time.Sleep(s.each)
	return s.versioned.List(ctx, q)
}

// add adds a monitor that the Prometheus selects.
func (s *slow) add(n int) {
	name := "added" + strconv.Itoa(n)
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns0", Name: name, UID: types.UID(name), ResourceVersion: "1", Generation: 1, Labels: map[string]string{"team": "t0"},
	}}
	s.put(catalog.ServiceMonitor.GroupVersionResource(), m)
	s.change()
}

// count returns the number of lists.
func (s *slow) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists
}

// accepted returns the number of accepted objects in the overview, and the time of the request.
func accepted(t *testing.T, a insight.Answers) (n int, took time.Duration) {
	t.Helper()
	from := time.Now()
	out, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	return out.Workloads[0].Accepted, time.Since(from)
}

// A request after a change returns a response with the change, even if the cluster was just read or
// is being read.
func TestAnswersHaveTheLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{&versioned{loaded(t, cluster(1, 0)), 1}, 5 * time.Millisecond}
		kinds, _ := setups()
		a := insight.New(insight.Parts{Reader: s, Setups: kinds})
		_, reading := accepted(t, a)
		want := 0
		ask := func(when string) {
			t.Helper()
			if n, took := accepted(t, a); n != want || took > 2*(time.Second+reading) {
				t.Errorf("%s: %d of %d monitors after %s", when, n, want, took)
			}
		}
		change := func() { s.add(want); want++ }
		change()
		ask("just read")
		change()
		ask("just read again")
		if _, took := accepted(t, a); took > 0 {
			t.Errorf("without a change, an answer takes %s", took)
		}
		change()
		go func() { _, _ = a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page}) }()
		synctest.Wait()
		for before := s.count(); s.count() == before; { // wait until the pause is over
			time.Sleep(s.each)
		}
		time.Sleep(reading / 2) // now it is reading
		change()
		ask("while it is read")
		time.Sleep(time.Minute)
		change()
		if _, took := accepted(t, a); took > reading {
			t.Errorf("after a minute, an answer with a change takes %s, reading %s", took, reading)
		}
	})
}

// A cluster that changes continuously is read at a limited rate, and requests do not wait longer
// than that.
func TestChangesAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{&versioned{loaded(t, cluster(1, 1)), 1}, 5 * time.Millisecond}
		kinds, _ := setups()
		a := insight.New(insight.Parts{Reader: s, Setups: kinds})
		_, reading := accepted(t, a)
		each := s.lists
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		go func() {
			for ctx.Err() == nil {
				time.Sleep(10 * time.Millisecond)
				s.change()
			}
		}()
		s.lists = 0
		for ctx.Err() == nil {
			if _, took := accepted(t, a); took > time.Second+reading {
				t.Errorf("an answer takes %s", took)
			}
			time.Sleep(time.Millisecond)
		}
		if n := s.lists / each; n > 30*2 || n < 15 {
			t.Errorf("it was read %d times in 30 s, each in %s", n, reading)
		}
	})
}

// While a read takes long, responses use the last snapshot with a note, and a new object is not
// reported as missing.
func TestAnswersDoNotWaitForALongReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{&versioned{loaded(t, cluster(1, 0)), 1}, 2 * time.Second}
		kinds, _ := setups()
		a := insight.New(insight.Parts{Reader: s, Setups: kinds})
		if _, reading := accepted(t, a); reading < 10*time.Second {
			t.Fatalf("it is read in %s", reading)
		}
		s.add(0)
		from := time.Now()
		out, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
		if took := time.Since(from); err != nil || took > 6*time.Second {
			t.Fatalf("%v after %s", err, took)
		}
		if n, said := out.Workloads[0].Accepted, strings.Join(out.Unread, "\n"); n != 0 || !strings.Contains(said, "this is as of ") {
			t.Errorf("%d accepted; %q", n, said)
		}
		added := insight.Object{Row: catalog.ServiceMonitor, NamespacedName: types.NamespacedName{Namespace: "ns0", Name: "added0"}}
		s.add(1)
		if _, err := a.Explain(t.Context(), everything, added); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("a new object: %v", err)
		}
		time.Sleep(time.Minute)
		_, _ = a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page}) // triggers a read
		time.Sleep(time.Minute)
		if _, err := a.Explain(t.Context(), everything, added); err != nil {
			t.Errorf("a new object when it is read: %v", err)
		}
		out, err = a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
		if err != nil || out.Workloads[0].Accepted != 2 || len(out.Unread) > 0 {
			t.Errorf("when all is read: %v, %+v", err, out)
		}
	})
}

// A request ends with its context, also while it waits.
func TestQuestionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{&versioned{loaded(t, cluster(1, 1)), 1}, 20 * time.Millisecond}
		kinds, _ := setups()
		a := insight.New(insight.Parts{Reader: s, Setups: kinds})
		accepted(t, a)
		s.change()
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		from := time.Now()
		if _, err := a.Overview(ctx, everything, insight.OverviewQuery{Page: page}); err == nil || time.Since(from) != 100*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(from))
		}
		time.Sleep(time.Minute) // until the read has ended
	})
}

// The overview lists objects that no workload selects, if the caller may get them.
func TestOverviewNamesWhatNobodySelects(t *testing.T) {
	s := &versioned{loaded(t, cluster(1, 1)), 1}
	kinds, _ := setups()
	a := insight.New(insight.Parts{Reader: s, Setups: kinds})
	for _, name := range []string{"lonely", "b"} {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "ns0", Name: name, UID: types.UID(name), ResourceVersion: "1", Generation: 1, Labels: map[string]string{"team": "nobody"}}}
		s.put(catalog.ServiceMonitor.GroupVersionResource(), m)
	}
	s.change()
	out, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	if out.UnselectedTotal != 2 || len(out.Unselected) != 2 || out.Unselected[0].Name != "b" || out.Unselected[1].String() != "ServiceMonitor ns0/lonely" {
		t.Errorf("%d: %v", out.UnselectedTotal, out.Unselected)
	}
	filtered := page
	filtered.Filter = "lonely"
	if out, err = a.Overview(t.Context(), everything, insight.OverviewQuery{Page: filtered}); err != nil || out.UnselectedTotal != 1 {
		t.Errorf("filtered: %v, %+v", err, out)
	}
	out, err = a.Overview(t.Context(), allowed{}, insight.OverviewQuery{Page: page})
	if err != nil || out.UnselectedTotal != 0 || len(out.Unselected) != 0 {
		t.Errorf("to a caller without permissions: %v, %+v", err, out)
	}
}

// While a workload changes faster than it can be compiled, an older configuration is returned with
// a note, and there is at most one compilation at a time.
func TestConfigurationsDoNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{&versioned{loaded(t, cluster(1, 1)), 1}, time.Millisecond}
		kinds, _ := setups()
		var compiling, most atomic.Int32
		var delay atomic.Int64
		a := insight.New(insight.Parts{Reader: s, Setups: kinds, Fresh: func() ([]engine.Setup, error) {
			most.Store(max(most.Load(), compiling.Add(1)))
			defer compiling.Add(-1)
			time.Sleep(time.Duration(delay.Load()))
			return setups()
		}})
		main := insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "ns0", Name: "p0"}}
		ask := func() (stale bool) {
			t.Helper()
			from := time.Now()
			out, err := a.Config(t.Context(), everything, main, insight.ConfigQuery{Page: page})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(from); took > 7*time.Second {
				t.Errorf("an answer after %s", took)
			}
			return strings.Contains(strings.Join(out.Unread, "\n"), "the configuration is as of ")
		}
		delay.Store(int64(50 * time.Second))
		from := time.Now()
		if _, err := a.Config(t.Context(), everything, main, insight.ConfigQuery{Page: page}); !apierrors.IsServiceUnavailable(err) || time.Since(from) > 21*time.Second {
			t.Errorf("the first configuration, which takes a minute: %v after %s", err, time.Since(from))
		}
		time.Sleep(40 * time.Second)
		if ask() {
			t.Error("the first configuration is outdated")
		}
		delay.Store(int64(20 * time.Second))
		for n := range 3 {
			s.add(n)
			if !ask() {
				t.Errorf("change %d: the configuration is that of now", n)
			}
		}
		delay.Store(0)
		time.Sleep(30 * time.Second)
		if ask() {
			t.Error("at the end: the configuration is outdated")
		}
		if most.Load() != 1 {
			t.Errorf("%d compilations at a time", most.Load())
		}
		time.Sleep(2 * time.Minute)
	})
}
