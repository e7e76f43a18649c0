package prometheus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// pacedHistory is a random sequence of changes of monitors in two namespaces and of the Secrets that they refer to.
type pacedHistory struct {
	*pacedScene
	random  *rand.Rand
	changes int
}

const pacedSecrets = 400 // of each namespace

// touch creates or changes a Secret, or deletes it.
func (h *pacedHistory) touch(namespace string, i int, remove bool) {
	name := fmt.Sprint(namespace, "-", i)
	if h.changes++; remove {
		h.deleteSecret(namespace, name)
		return
	}
	h.secret(namespace, name, fmt.Sprint(h.changes), map[string][]byte{"k": []byte("x")})
}

// monitor creates, replaces or edits a monitor that refers to n Secrets.
func (h *pacedHistory) monitor(namespace, name string, uid types.UID, n int) {
	first := h.random.IntN(pacedSecrets)
	secrets := make([]string, n)
	for i := range secrets {
		secrets[i] = fmt.Sprint(namespace, "-", (first+i)%pacedSecrets)
	}
	h.changes++
	m := monitorOfSecrets(namespace, name, secrets)
	m.UID, m.ResourceVersion, m.Generation = uid, fmt.Sprint(h.changes), int64(h.changes)
	h.remove(namespace, name)
	h.services = append(h.services, m)
	slices.SortFunc(h.services, func(a, b *v1.ServiceMonitor) int { return informer.CompareKeys(a, b) })
}

func (h *pacedHistory) remove(namespace, name string) {
	h.services = slices.DeleteFunc(h.services, func(m *v1.ServiceMonitor) bool { return m.Namespace == namespace && m.Name == name })
}

// pacedOutcome is the result of a monitor in one reconciliation.
type pacedOutcome struct {
	jobs     int
	rejected bool
	current  bool // made from the current Secrets
}

// Changes in one namespace delay no monitors of another one, and remove none that still exists from the configuration. After the
// last change, the results equal those of a new start.
func TestPacedRandomHistories(t *testing.T) {
	waited := 0
	for seed := range uint64(6) {
		h := &pacedHistory{pacedScene: newPacedScene(t), random: rand.New(rand.NewPCG(seed, 1))}
		h.p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}
		for i := range pacedSecrets {
			h.touch("busy", i, false)
			h.touch("quiet", i, false)
		}
		open := func() func() (map[types.UID]pacedOutcome, bool) {
			reconcile := h.open()
			return func() (map[types.UID]pacedOutcome, bool) {
				in, postponed := reconcile()
				out := map[types.UID]pacedOutcome{}
				for m := range in.Monitors.each(func(compiled) bool { return true }) {
					out[m.Object.GetUID()] = pacedOutcome{m.Jobs, m.Err != nil, h.cache.Current(m.Deps)}
				}
				return out, postponed
			}
		}
		pass := open()
		before, _ := pass()
		for range 25 {
			h.change()
			now, postponed := pass()
			if postponed {
				waited++
			}
			for _, m := range h.services {
				got, has := now[m.UID]
				if last, had := before[m.UID]; had && last.jobs > 0 && !got.rejected && got.jobs == 0 {
					t.Fatalf("seed %d: %s/%s is lost", seed, m.Namespace, m.Name)
				}
				if m.Namespace == "quiet" && (!has || !got.current || got.jobs != len(m.Spec.Endpoints)) {
					t.Fatalf("seed %d: %s/%s waits: %+v", seed, m.Namespace, m.Name, got)
				}
			}
			before = now
		}
		for i := 0; ; i++ {
			now, postponed := pass()
			if !postponed {
				fresh, _ := open()()
				if len(now) != len(fresh) {
					t.Errorf("seed %d: %d monitors, %d after a start", seed, len(now), len(fresh))
				}
				for uid, want := range fresh {
					if got := now[uid]; got != want || !got.current {
						t.Errorf("seed %d: %s: %+v, and %+v after a start", seed, uid, got, want)
					}
				}
				break
			}
			if i > 40 {
				t.Fatalf("seed %d: it does not end", seed)
			}
		}
	}
	if waited < 10 {
		t.Errorf("only %d reconciliations have postponed anything", waited)
	}
}

// change makes many changes in one namespace, and few in the other.
func (h *pacedHistory) change() {
	r := h.random
	for range r.IntN(4) {
		name := fmt.Sprint("m", r.IntN(8))
		switch r.IntN(5) {
		case 0:
			h.remove("busy", name)
		default:
			h.monitor("busy", name, types.UID(fmt.Sprint(name, "-", r.IntN(3))), 1+r.IntN(350))
		}
	}
	for i := range r.IntN(pacedSecrets + 1) {
		h.touch("busy", i, r.IntN(100) == 0)
	}
	if r.IntN(2) == 0 {
		name := fmt.Sprint("m", r.IntN(3))
		h.monitor("quiet", name, types.UID("quiet-"+name), 1+r.IntN(30))
	}
	for range r.IntN(20) {
		h.touch("quiet", r.IntN(pacedSecrets), false)
	}
}
