package assets

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Reads of one namespace are limited in number and time, those of another namespace and of cached objects are not.
func TestPaced(t *testing.T) {
	for name, tc := range map[string]struct {
		each  time.Duration // a request takes
		reads int           // that are made
	}{"many": {0, pacedReads}, "slow": {pacedTime / 4, 4}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kube := fake.NewClientset()
				kube.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
					time.Sleep(tc.each)
					return false, nil, nil
				})
				var p Pace
				c := NewCache(kube, known{})
				r := c.Paced(t.Context(), &p)
				if p.Postponed() != "" {
					t.Error("nothing was read yet")
				}
				for i := range pacedReads + 100 {
					_, err := r.Object(Ref{Secret, "team", fmt.Sprint(i)})
					if postponed := i >= tc.reads; IsPostponed(err) != postponed || IsNotFound(err) == postponed {
						t.Fatalf("read %d: %v", i, err)
					}
				}
				if n := len(kube.Actions()); n != tc.reads || p.Postponed() != "team" {
					t.Errorf("%d requests, %q", n, p.Postponed())
				}
				for _, ref := range []Ref{{Secret, "team", "0"}, {Secret, "other", "0"}} {
					if _, err := r.Object(ref); !IsNotFound(err) {
						t.Errorf("%s: %v", ref, err)
					}
				}
				s := NewScope("team", r)
				if _, err := s.value(Secret, "new", "key"); !IsPostponed(err) || !IsTemporary(err) || s.Temporary() == nil {
					t.Errorf("a value of a postponed object: %v", err)
				}
				if _, err := c.Paced(t.Context(), &Pace{}).Object(Ref{Secret, "team", "new"}); !IsNotFound(err) {
					t.Errorf("in the next reconciliation: %v", err)
				}
			})
		})
	}
}

// Objects that are read repeatedly, because they are evicted or expire before all are read, eventually get more reads.
// Objects that change repeatedly do not.
func TestPacedInCircles(t *testing.T) {
	for name, tc := range map[string]struct {
		again func(pass, i int) bool
		stuck bool
	}{
		"evicted":      {func(int, int) bool { return true }, true},
		"half":         {func(_, i int) bool { return i%2 == 0 }, true},
		"changed":      {func(int, int) bool { return false }, false},
		"some":         {func(_, i int) bool { return i%3 == 0 }, false},
		"now and then": {func(pass, _ int) bool { return pass%stuckReconciliations != 0 }, false},
	} {
		var p Pace
		most, stuck := 0, 0
		for pass := range 3 * stuckReconciliations {
			p.Begin()
			reads := 0
			for i := 0; p.begin("team", tc.again(pass, i)); i++ {
				p.end("team", 0)
				reads++
			}
			if most = max(most, reads); reads > pacedReads {
				stuck++
			}
		}
		if (stuck > 0) != tc.stuck || stuck > 2 || most > stuckFactor*pacedReads {
			t.Errorf("%s: %d reconciliations with more, %d reads at most", name, stuck, most)
		}
	}
	var p Pace
	for namespace := range 1_000 {
		p.Begin()
		p.begin(fmt.Sprint(namespace), true)
		p.end(fmt.Sprint(namespace), 0)
	}
	if len(p.used) > 1 {
		t.Errorf("%d namespaces are kept", len(p.used))
	}
}
