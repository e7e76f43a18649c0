package engine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// onlyByName forbids listing and watching Secrets and ConfigMaps, except in the namespaces open,
// and the calls for which more returns true.
func (b *harness) onlyByName(open []string, more func(call) bool) {
	denied := func(resource, verb, namespace string) bool {
		return (verb == "list" || verb == "watch") && (resource == "secrets" || resource == "configmaps") && !slices.Contains(open, namespace)
	}
	b.may = func(_ context.Context, resource, verb, namespace string) (bool, error) {
		return !denied(resource, verb, namespace), nil
	}
	b.answers(func(c call) *metav1.Status {
		wide := denied(c.resource, c.verb, c.namespace)
		if wide && open == nil {
			b.t.Errorf("refused: %s", c)
		}
		if wide || more != nil && more(c) {
			return failure(http.StatusForbidden, metav1.StatusReasonForbidden, c)
		}
		return nil
	})
}

// reads returns the reads of single objects since the last call, with their counts.
func (b *harness) reads() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]int{}
	for _, text := range b.asked {
		out[text]++
	}
	b.asked = nil
	return out
}

func referringTo(secrets ...string) func(*v1.ThanosRuler) {
	return func(w *v1.ThanosRuler) { w.Annotations["secrets"] = strings.Join(secrets, " ") }
}

// Without permission to list and watch, referenced and generated objects are read by name: each
// object once per period, and once more after a change.
func TestSecretsByName(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.onlyByName(nil, nil)
		b.set(secretOf("login", "one"))
		b.set(ruler("a", referringTo("login", "late")))
		b.start(nil, f)
		late := NamedPoll + 10*time.Second
		if got := b.condition("a", v1.Reconciled); !strings.Contains(got, "late") {
			t.Errorf("condition %q", got)
		}
		b.set(secretOf("late", "two"))
		b.after(late)
		if got := b.config("ruler-a-config"); got != "one two" {
			t.Errorf("a Secret that is created later: %q", got)
		}
		b.set(secretOf("login", "three"))
		b.after(late)
		if got := b.config("ruler-a-config"); got != "three two" {
			t.Errorf("a Secret that changed: %q", got)
		}
		b.after(time.Minute)
		b.reads()
		b.written()
		b.after(10 * NamedPoll)
		for what, n := range b.reads() {
			if n < 9 || n > 11 {
				t.Errorf("%d times in ten periods: %s", n, what)
			}
		}
		if writes := b.written(); len(writes) > 0 {
			t.Errorf("writes while nothing changes: %q", writes)
		}

		b.gone(secretOf("ruler-a-web", ""))
		edit(b, "secrets", "ruler-a-config", func(s *corev1.Secret) { s.Data["config"] = []byte("edited") })
		b.after(late)
		if got := b.config("ruler-a-web") + ", " + b.config("ruler-a-config"); got != "three two, three two" {
			t.Errorf("what others deleted and edited: %s", got)
		}
		b.written()
		b.gone(secretOf("late", ""))
		b.after(late)
		if got := b.condition("a", v1.Reconciled); !strings.Contains(got, "late") {
			t.Errorf("condition after a deletion %q", got)
		}
	})
}

// A namespace that may be watched is watched, and objects written before a restart are found.
func TestSecretsByWatchInOneNamespace(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.onlyByName([]string{"team"}, nil)
		b.set(secretOf("login", "one"))
		b.set(ruler("a", referringTo("login")))
		b.start(nil, f)
		b.after(time.Minute)
		b.reads()
		b.set(secretOf("login", "two"))
		b.after(time.Second)
		if got := b.config("ruler-a-config"); got != "two" {
			t.Errorf("config %q", got)
		}
		b.gone(secretOf("ruler-a-web", ""))
		b.after(time.Second)
		if got := b.config("ruler-a-web"); got != "two" {
			t.Errorf("the deleted Secret: %q", got)
		}
		b.after(10 * NamedPoll)
		if got := fmt.Sprint(b.reads()); got != "map[get secrets team/login:1]" {
			t.Errorf("reads %s", got)
		}
		// The permission is revoked: the same result, but later.
		b.onlyByName([]string{}, nil)
		b.mu.Lock()
		for w := range b.watches {
			w.Close()
		}
		b.mu.Unlock()
		b.after(time.Minute)
		b.set(secretOf("login", "three"))
		b.after(NamedPoll + 10*time.Second)
		if got := b.config("ruler-a-config"); got != "three" {
			t.Errorf("config without the watch %q", got)
		}
	})
}

// A reference that may not even be read fails its workloads with a reason; once permitted, they are
// reconciled immediately.
func TestSecretsThatAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		refused := true
		b.onlyByName(nil, func(c call) bool { return refused && c.verb == "get" && c.name == "closed" })
		b.set(secretOf("login", "one"))
		b.set(secretOf("closed", "two"))
		b.set(ruler("a", referringTo("login")))
		b.set(ruler("b", referringTo("closed")))
		b.start(nil, f)
		for range 3 {
			if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "True") {
				t.Errorf("condition of a %q", got)
			}
			if got := b.condition("b", v1.Reconciled); !strings.Contains(got, `no permission to get secrets in namespace "team"`) {
				t.Errorf("condition of b %q", got)
			}
			b.after(10 * time.Minute)
		}
		b.reads()
		b.after(time.Hour)
		if n := b.reads()["get secrets team/closed"]; n > 20 {
			t.Errorf("%d calls in an hour for what is refused", n)
		}
		refused = false
		b.sources.Granted("team")
		b.settle()
		if got := b.config("ruler-b-config"); got != "two" {
			t.Errorf("config of b %q", got)
		}
	})
}

// The deletion of an object before its first read is detected too.
func TestSecretsByNameThatAreDeletedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.onlyByName(nil, nil)
		b.start(nil, f)
		b.set(secretOf("login", "one"))
		b.set(ruler("a", referringTo("login")))
		b.after(time.Second)
		if got := b.config("ruler-a-web"); got != "one" {
			t.Fatalf("config %q", got)
		}
		b.gone(secretOf("login", ""))
		b.gone(secretOf("ruler-a-web", ""))
		b.after(2 * 5 * time.Second)
		if got := b.condition("a", v1.Reconciled); !strings.Contains(got, "login") {
			t.Errorf("condition %q", got)
		}
		b.set(secretOf("login", "two"))
		for range 3 { // again and again
			b.after(NamedPoll + 5*time.Second)
			if got := b.config("ruler-a-web"); got != "two" {
				t.Fatalf("config %q", got)
			}
			b.gone(secretOf("ruler-a-web", ""))
		}
	})
}

// After a restart nothing is written that is already up to date, including objects that no pod mounts.
func TestSecretsByNameAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.onlyByName(nil, nil)
		b.set(secretOf("login", "one"))
		b.set(ruler("a", referringTo("login")))
		b.start(nil, f)
		b.stop()
		b.written()
		b.start(nil, f)
		b.after(10 * time.Minute)
		if writes := b.written(); len(writes) > 0 {
			t.Errorf("writes after a restart: %q", writes)
		}
	})
}

// An operator that starts while the objects of a workload cannot be read plans nothing before they can: what they hold
// decides where new content goes.
func TestStartWithoutPermissionToReadOwnObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		w := ruler("a")
		meta := (&fakeInputs{fakeKind: f, w: w}).meta
		set := &appsv1.StatefulSet{ObjectMeta: meta("")}
		set.Labels["of"] = f.prefix
		volume := func(source corev1.VolumeSource) {
			set.Spec.Template.Spec.Volumes = append(set.Spec.Template.Spec.Volumes, corev1.Volume{VolumeSource: source})
		}
		for _, suffix := range []string{"", "config-part-1", "users"} {
			secret := &corev1.Secret{ObjectMeta: meta(suffix)}
			b.set(secret)
			volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret.Name}})
		}
		for _, suffix := range []string{"rulefiles-0", "rulefiles-1", "users"} {
			m := &corev1.ConfigMap{ObjectMeta: meta(suffix)}
			if suffix != "users" {
				m.Labels[f.Names.RuleLabel] = w.Name
			}
			source := &corev1.ConfigMapVolumeSource{}
			if source.Name = m.Name; suffix != "rulefiles-1" { // an optional one that does not exist
				b.set(m)
			}
			volume(corev1.VolumeSource{ConfigMap: source})
		}
		b.set(set)
		b.set(w)
		var refused atomic.Value
		refused.Store("secrets configmaps")
		b.onlyByName(nil, func(c call) bool {
			return c.verb == "get" && strings.Contains(refused.Load().(string), c.resource) || strings.HasSuffix(c.name, "-users") // never
		})
		var plans []string
		f.gathers(func(_ v1.Workload, c Cluster) error {
			var from []string
			for name := range c.Live.Secrets {
				from = append(from, name)
			}
			for _, m := range c.Live.ConfigMaps {
				from = append(from, m.Name)
			}
			slices.Sort(from)
			plans = append(plans, strings.Join(from, " "))
			return nil
		})
		f.plans(func(_ v1.Workload, p *Plan) error {
			for _, step := range p.Workload {
				if s, is := step.Object.(*appsv1.StatefulSet); is {
					s.Spec.Template.Spec.Volumes = set.Spec.Template.Spec.Volumes
				}
			}
			return nil
		})
		b.start(nil, f)
		b.written()
		for _, next := range []string{"configmaps", ""} {
			b.after(20 * time.Minute)
			if n, writes := f.of("a"), b.written(); n > 0 || len(writes) > 0 {
				t.Fatalf("%v cannot be read: gathered %d times, wrote %q", refused.Load(), n, writes)
			}
			if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "False") || !strings.Contains(got, "Forbidden: get") {
				t.Errorf("condition %q", got)
			}
			refused.Store(next)
		}
		b.after(refusedRetry + time.Second)
		if want := "ruler-a ruler-a-config-part-1 ruler-a-rulefiles-0"; len(plans) == 0 || plans[0] != want {
			t.Fatalf("plans are made from %q, want %q first", plans, want)
		}
		b.after(NamedPoll)
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Generation = 2 }))
		b.settle()
		if got, want := plans[len(plans)-1], "ruler-a ruler-a-config ruler-a-config-part-1 ruler-a-rulefiles-0 ruler-a-web"; got != want {
			t.Errorf("a later plan is made from %q, want %q", got, want)
		}
	})
}
