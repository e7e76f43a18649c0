package eventqueue

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// sent records when Events were sent, by namespace, and their notes.
type sent struct {
	mu    sync.Mutex
	start time.Time
	at    map[string][]time.Duration
	notes map[string]string // by namespace/name
}

// Eventf implements events.EventRecorder.
func (s *sent) Eventf(regarding, related runtime.Object, _, _, _, note string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := regarding.(*corev1.ObjectReference)
	s.at[about.Namespace] = append(s.at[about.Namespace], time.Since(s.start))
	s.notes[about.Namespace+"/"+about.Name] = fmt.Sprintf(note, args...)
	if related != nil && related.(*corev1.ObjectReference).Name != "workload" {
		s.notes[about.Namespace+"/"+about.Name] += " with another object"
	}
}

func inBubble(t *testing.T, rate float32, test func(q *Queue, s *sent)) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		if err := corev1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		s := &sent{start: time.Now(), at: map[string][]time.Duration{}, notes: map[string]string{}}
		q := New(scheme, rate)
		go q.Run(t.Context())
		test(q, s)
		synctest.Wait()
	})
}

func object(namespace, name string) runtime.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func (q *Queue) report(s *sent, namespace, name, note string) {
	q.Recorder(s).Eventf(object(namespace, name), object("monitoring", "workload"), corev1.EventTypeWarning, "InvalidConfiguration", "Selecting", "%s", note)
}

// count returns the number of waiting Events.
func (q *Queue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}

// A tenant toggles a Secret to which thousands of invalid objects refer: each time, all of them are
// reported with another reason.
func TestFlood(t *testing.T) {
	inBubble(t, 10, func(q *Queue, s *sent) {
		for round := range 60 {
			for i := range 3000 {
				q.report(s, "hostile", fmt.Sprint(i), fmt.Sprint("round ", round))
			}
			if round == 30 {
				q.report(s, "good", "web", "the port 100% is unknown")
			}
			time.Sleep(time.Second)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.at["hostile"]); n > 60*10+burst*10+1 {
			t.Errorf("%d Events within a minute, of at most 10 each second", n)
		}
		if at := s.at["good"]; len(at) != 1 || at[0] > 31*time.Second {
			t.Errorf("the Event about another namespace was sent after %v, want soon after 30 s", at)
		}
		if s.notes["good/web"] != "the port 100% is unknown" {
			t.Errorf("note %q", s.notes["good/web"])
		}
		if n := q.count(); n > 3000 {
			t.Errorf("%d Events wait, of 3000 objects", n)
		}
	})
}

// Waiting Events are bounded. The namespace with the most of them loses some, others lose none.
func TestBounded(t *testing.T) {
	inBubble(t, 100, func(q *Queue, s *sent) {
		for i := range 100 {
			q.report(s, "good", fmt.Sprint(i), "x")
		}
		for i := range 3 * most {
			q.report(s, "hostile", fmt.Sprint(i), "x")
		}
		for i := range 100 {
			q.report(s, "late", fmt.Sprint(i), "x")
		}
		if n := q.count(); n > most {
			t.Errorf("%d Events wait", n)
		}
		time.Sleep(time.Hour)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.at["good"]) != 100 || len(s.at["late"]) != 100 {
			t.Errorf("of 100 Events each, %d and %d were sent", len(s.at["good"]), len(s.at["late"]))
		}
		if n := q.count(); n != 0 || len(q.waiting) != 0 {
			t.Errorf("%d Events are left", n)
		}
	})
}

// A few Events are sent in a burst, with their last message.
func TestFew(t *testing.T) {
	inBubble(t, 1, func(q *Queue, s *sent) {
		q.report(s, "good", "a", "first")
		q.report(s, "good", "b", "first")
		q.Recorder(s).Eventf(object("good", "c"), nil, corev1.EventTypeNormal, "Scaled", "Scale", "%d → %d", 1, 2)
		time.Sleep(time.Millisecond)
		q.report(s, "good", "a", "second")
		time.Sleep(time.Millisecond)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.notes["good/a"] != "second" || s.notes["good/b"] != "first" || s.notes["good/c"] != "1 → 2" || len(s.at["good"]) != 4 {
			t.Errorf("%v at %v", s.notes, s.at)
		}
	})
}
