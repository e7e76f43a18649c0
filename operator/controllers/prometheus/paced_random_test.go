package prometheus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// pacedWorld are monitors of two namespaces and the Secrets that they refer to.
type pacedWorld struct {
	*scene
	t       *testing.T
	random  *rand.Rand
	kube    *fake.Clientset
	watched watchedSecrets
	changes int
}

const pacedSecrets = 400 // of each namespace

// touch creates or changes a Secret, or deletes it.
func (w *pacedWorld) touch(namespace string, i int, remove bool) {
	name := fmt.Sprint(namespace, "-", i)
	_ = w.kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), namespace, name)
	if w.changes++; remove {
		delete(w.watched, name)
		return
	}
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: fmt.Sprint(w.changes)}, Data: map[string][]byte{"k": []byte("x")}}
	if err := w.kube.Tracker().Add(o); err != nil {
		w.t.Fatal(err)
	}
	w.watched[name] = o.ResourceVersion
}

// monitor creates, replaces or edits a monitor that refers to n Secrets.
func (w *pacedWorld) monitor(namespace, name string, uid types.UID, n int) {
	m := serviceMonitors(1)[0]
	w.changes++
	m.Namespace, m.Name, m.UID, m.ResourceVersion, m.Generation = namespace, name, uid, fmt.Sprint(w.changes), int64(w.changes)
	m.Spec.Endpoints = nil
	first := w.random.IntN(pacedSecrets)
	for i := range n {
		key := *secretKey(fmt.Sprint(namespace, "-", (first+i)%pacedSecrets), "k")
		e := v1.Endpoint{Port: "web"}
		e.BasicAuth = &v1.BasicAuth{Username: key, Password: key}
		m.Spec.Endpoints = append(m.Spec.Endpoints, e)
	}
	w.remove(namespace, name)
	w.services = append(w.services, m)
	slices.SortFunc(w.services, func(a, b *v1.ServiceMonitor) int { return informer.CompareKeys(a, b) })
}

func (w *pacedWorld) remove(namespace, name string) {
	w.services = slices.DeleteFunc(w.services, func(m *v1.ServiceMonitor) bool { return m.Namespace == namespace && m.Name == name })
}

// pacedOutcome is what a reconciliation has of a monitor.
type pacedOutcome struct {
	jobs     int
	rejected bool
	current  bool // made from the current Secrets
}

// Whatever changes in a namespace, the monitors of another one are current after each reconciliation, and no monitor that was
// written is lost as long as it exists. When nothing changes any more, the results are those of a fresh start.
func TestPacedRandomHistories(t *testing.T) {
	waited := 0
	for seed := range uint64(6) {
		w := &pacedWorld{scene: newScene(), t: t, random: rand.New(rand.NewPCG(seed, 1)), kube: fake.NewClientset(), watched: watchedSecrets{}}
		w.p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}
		for i := range pacedSecrets {
			w.touch("busy", i, false)
			w.touch("quiet", i, false)
		}
		cache := assets.NewCache(w.kube, w.watched)
		servers, _ := Kinds(Options{Workload: benchConfig}, &rules.Cache{})
		open := func() func() (map[types.UID]pacedOutcome, bool) {
			gatherer, pace := servers.Open(types.NamespacedName{Name: fmt.Sprint(w.changes)}), &assets.Pace{}
			return func() (map[types.UID]pacedOutcome, bool) {
				pace.Begin()
				c := w.cluster()
				c.References, c.Paced, c.Current = cache.Reader(t.Context()), cache.Paced(t.Context(), pace), cache.Current
				in, err := gatherer.Gather(w.p, c)
				if err != nil {
					t.Fatal(err)
				}
				out := map[types.UID]pacedOutcome{}
				for m := range in.(*Inputs).Monitors.each(func(compiled) bool { return true }) {
					out[m.Object.GetUID()] = pacedOutcome{m.Jobs, m.Err != nil, cache.Current(m.Deps)}
				}
				return out, pace.Postponed() != ""
			}
		}
		pass := open()
		before, _ := pass()
		for range 25 {
			w.change()
			now, postponed := pass()
			if postponed {
				waited++
			}
			for _, m := range w.services {
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

// change changes much in one namespace, and little in the other.
func (w *pacedWorld) change() {
	r := w.random
	for range r.IntN(4) {
		name := fmt.Sprint("m", r.IntN(8))
		switch r.IntN(5) {
		case 0:
			w.remove("busy", name)
		default:
			w.monitor("busy", name, types.UID(fmt.Sprint(name, "-", r.IntN(3))), 1+r.IntN(350))
		}
	}
	for i := range r.IntN(pacedSecrets + 1) {
		w.touch("busy", i, r.IntN(100) == 0)
	}
	if r.IntN(2) == 0 {
		name := fmt.Sprint("m", r.IntN(3))
		w.monitor("quiet", name, types.UID("quiet-"+name), 1+r.IntN(30))
	}
	for range r.IntN(20) {
		w.touch("quiet", r.IntN(pacedSecrets), false)
	}
}
