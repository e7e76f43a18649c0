package engine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func forbidden(name string) error {
	return fmt.Errorf("write: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, name, errors.New("no")))
}

// When permissions are back, all objects are reconciled within seconds, however long they were refused. Until then, one
// attempt is made every ten seconds in addition, however many objects there are.
func TestPermissionsAreBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var may atomic.Bool
		w := &scriptedKind{pass: func(_ int, name string) (Outcome, error) {
			if may.Load() {
				return Outcome{}, nil
			}
			return Outcome{}, forbidden(name)
		}}
		l, _, _, stop := running(t, w, 2)
		defer stop()
		const all = 50
		for i := range all {
			l.enqueue(key(fmt.Sprint(i)))
		}
		count := func() (n, ok int) {
			w.mu.Lock()
			for _, passes := range w.passes {
				n += len(passes)
			}
			w.mu.Unlock() // a loop locks itself before its kind
			good, _ := l.countResults()
			return n, good
		}
		time.Sleep(2 * time.Hour)
		before, _ := count()
		time.Sleep(time.Hour)
		after, _ := count()
		if most := all*12 + 360 + all; after-before > most {
			t.Errorf("%d attempts in an hour, more than %d", after-before, most)
		}
		may.Store(true)
		time.Sleep(refusedRetry + time.Second)
		if _, good := count(); good != all {
			t.Errorf("%d of %d objects are reconciled soon after the permission is back", good, all)
		}
		time.Sleep(lastRetry) // pauses from before end with one more attempt
		before, _ = count()
		time.Sleep(time.Hour)
		if after, _ := count(); after != before {
			t.Errorf("%d attempts although all succeeded", after-before)
		}
	})
}

// One object that is refused now and then, as its tenant changes it, does not make the others be tried all the time.
func TestRefusedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flips atomic.Bool
		w := &scriptedKind{pass: func(_ int, name string) (Outcome, error) {
			if name == "flip" && flips.Load() {
				return Outcome{}, nil
			}
			return Outcome{}, forbidden(name)
		}}
		l, _, _, stop := running(t, w, 2)
		defer stop()
		l.enqueue(key("flip"))
		l.enqueue(key("other"))
		time.Sleep(time.Hour)
		w.mu.Lock()
		before := len(w.passes["other"])
		w.mu.Unlock()
		for range 360 { // an hour
			flips.Store(!flips.Load())
			l.enqueue(key("flip"))
			time.Sleep(5 * time.Second)
			flips.Store(!flips.Load())
			l.enqueue(key("flip"))
			time.Sleep(5 * time.Second)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if n := len(w.passes["other"]) - before; n > 360+360+20 || n < 12 {
			t.Errorf("%d attempts in an hour", n)
		}
	})
}
