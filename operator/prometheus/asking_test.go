package prometheus

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	promclient "github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// watch tells the versions of Secrets, and lets a test act when one is asked for.
type watch struct {
	versions map[assets.Ref]string
	asked    func(assets.Ref)
}

func (w *watch) Version(ref assets.Ref) (string, bool) {
	if w.asked != nil {
		w.asked(ref)
	}
	return w.versions[ref], true
}

// askingScene is a controller whose store of Secrets the test changes.
type askingScene struct {
	*scene
	*watch
	c     *Controller
	woken chan types.NamespacedName
}

func newAskingScene(t *testing.T) *askingScene {
	t.Helper()
	kube := fake.NewClientset(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "login", ResourceVersion: "1"},
		Data:       map[string][]byte{"user": []byte("ada"), "jobs": []byte("- job_name: mine")},
	})
	w := &watch{versions: map[assets.Ref]string{loginRef: "1"}}
	s := &askingScene{scene: newScene(), watch: w, woken: make(chan types.NamespacedName, 10)}
	s.c = &Controller{
		kind: Servers, stores: &stores{Sources: &Sources{}}, assets: assets.NewCache(kube, w), compilers: newCompilers(), owners: map[types.NamespacedName]*ownerState{},
		metrics: controller.NewMetrics(promclient.NewRegistry(), "prometheus"),
	}
	s.c.loop = controller.NewLoop(controller.Kind{
		Name: "asking",
		Reconcile: func(_ context.Context, key types.NamespacedName) (controller.Outcome, error) {
			s.woken <- key
			return controller.Outcome{}, nil
		},
		Status: func(context.Context, types.NamespacedName, controller.Result, bool) error { return nil },
		Exists: func(types.NamespacedName) bool { return true },
	}, slog.New(slog.DiscardHandler), s.c.metrics)
	return s
}

var loginRef = assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "login"}

// reconcile is a reconciliation up to where nothing is read any more.
func (s *askingScene) reconcile(t *testing.T, name string) (Inputs, error) {
	t.Helper()
	s.p.Name = name
	o := ForServer(s.p)
	state := s.c.state(o.Key())
	ask := s.c.asking(t.Context(), state)
	cluster := s.cluster()
	cluster.References = ask
	g := gatherer{
		cluster: cluster, compilers: s.c.compilers, current: ask.current, monitors: &state.monitors, ruleFiles: &state.ruleFiles,
		unmanaged: func(Owner) bool { return false },
		frame: func(o Owner, settings *promconfig.Settings, rules []string) (promconfig.Frame, error) {
			return s.c.frame(ask, &state.frame, o, settings, rules)
		},
	}
	in, err := g.Gather(o, time.Now())
	s.c.remember(state, in, err)
	return in, err
}

// findable holds that an event about a Secret finds the owner from the moment on
// at which the owner looks at it: whatever changes later is not lost.
func (s *askingScene) findable(t *testing.T, name string) (looks func() int) {
	n := 0
	s.asked = func(ref assets.Ref) {
		n++
		if owners := s.c.referencing(ref); !slices.Contains(owners, types.NamespacedName{Namespace: "team", Name: name}) {
			t.Errorf("%s looks at %s, and an event about it would find %v", name, ref, owners)
		}
	}
	return func() int { s.asked = nil; return n }
}

func (s *scene) withPassword() {
	s.services[0].Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{Username: *secretKey("login", "user"), Password: *secretKey("login", "user")}
}

func secretKey(name, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}

func TestReferencesAreRememberedBeforeTheyAreRead(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"of a monitor":        (*scene).withPassword,
		"of a missing Secret": func(s *scene) { s.withPassword(); s.services[0].Spec.Endpoints[0].BasicAuth.Username.Name = "gone" },
		"of the Prometheus":   func(s *scene) { s.p.Spec.AdditionalScrapeConfigs = secretKey("login", "jobs") },
		"of a Prometheus that fails": func(s *scene) {
			s.p.Spec.AdditionalScrapeConfigs = secretKey("login", "missing")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAskingScene(t)
			change(s.scene)
			for _, owner := range []string{"first", "first", "second"} { // what was compiled for the first serves the second
				looks := s.findable(t, owner)
				_, err := s.reconcile(t, owner)
				if looks() == 0 {
					t.Errorf("%s looked at nothing: %v", owner, err)
				}
			}
			for key := range s.c.owners {
				if len(s.c.owners[key].references) == 0 {
					t.Errorf("%s has no references after it", key)
				}
			}
		})
	}
}

// A Secret that changes after it was read and before the end of the reconciliation
// starts another one, which has the new value.
func TestASecretThatChangesMeanwhile(t *testing.T) {
	for _, event := range []string{"add", "update", "delete"} {
		s := newAskingScene(t)
		s.withPassword()
		s.asked = func(ref assets.Ref) {
			s.asked = nil
			s.versions[loginRef] = map[string]string{"add": "1", "update": "2", "delete": ""}[event]
			s.c.assets.Forget(loginRef)
			s.c.trigger("Secret", event, s.c.referencing(ref)...)
		}
		if _, err := s.reconcile(t, "web"); err != nil {
			t.Fatal(err)
		}
		s.wakes(t, event)
	}
}

// wakes waits for the owner's next reconciliation.
func (s *askingScene) wakes(t *testing.T, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go s.c.loop.Run(ctx, 1)
	select {
	case key := <-s.woken:
		if key.Name != "web" {
			t.Errorf("%s wakes %s", what, key)
		}
	case <-ctx.Done():
		t.Errorf("%s wakes nobody", what)
	}
}

func TestReferencesThatAreGone(t *testing.T) {
	s := newAskingScene(t)
	s.withPassword()
	if _, err := s.reconcile(t, "web"); err != nil || len(s.c.referencing(loginRef)) != 1 {
		t.Fatal(err)
	}
	s.services[0] = s.services[0].DeepCopy()
	s.services[0].Spec.Endpoints[0].BasicAuth, s.services[0].Generation = nil, 2
	s.p.Spec.Version = "none"
	if _, err := s.reconcile(t, "web"); err == nil || len(s.c.referencing(loginRef)) != 1 {
		t.Errorf("a reconciliation that failed early forgets references: %v", err)
	}
	s.p.Spec.Version = ""
	if _, err := s.reconcile(t, "web"); err != nil || len(s.c.referencing(loginRef)) != 0 {
		t.Errorf("a reference that is gone is kept: %v", err)
	}
}

// What an unreadable reference needs is a look now and then: no call for each
// reconciliation, and no event.
func TestReferencesAreLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAskingScene(t)
		s.withPassword()
		kube := fake.NewClientset()
		s.c.assets = assets.NewCache(kube, blind{})
		for range 5 {
			in, err := s.reconcile(t, "web")
			if err != nil || in.Counts[v1.ServiceMonitorKind].Rejected != 1 {
				t.Fatal(err, in.Counts)
			}
		}
		if n := len(kube.Actions()); n != 1 {
			t.Errorf("%d calls for a missing Secret in 5 reconciliations", n)
		}
		login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "login", ResourceVersion: "1"}, Data: map[string][]byte{"user": nil}}
		if err := kube.Tracker().Add(login); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		s.c.recheck()
		s.wakes(t, "the time")
		if in, err := s.reconcile(t, "web"); err != nil || in.Counts[v1.ServiceMonitorKind].Rejected != 0 {
			t.Error(err, in.Counts)
		}
	})
}

// blind is a watch that a selector narrows: what it does not show may exist.
type blind struct{}

func (blind) Version(assets.Ref) (string, bool) { return "", false }

// An object that refers to what it may not read, or to what cannot exist, is
// rejected alone.
func TestUnreadableReferences(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "login", fmt.Errorf("no access"))
	for name, tc := range map[string]struct {
		secret, want string
	}{
		"no permission":      {"login", `endpoints[0]: basicAuth: username: Secret "tenant/login" cannot be read: no permission to get secrets in namespace "tenant"`},
		"a path":             {"a/b", `endpoints[0]: basicAuth: username: "a/b" is not a valid name of a Secret`},
		"the parent folder":  {"..", `endpoints[0]: basicAuth: username: ".." is not a valid name of a Secret`},
		"a per cent sign":    {"50%", `endpoints[0]: basicAuth: username: "50%" is not a valid name of a Secret`},
		"upper case letters": {"Login", `endpoints[0]: basicAuth: username: "Login" is not a valid name of a Secret`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}
			bad := s.services[0].DeepCopy()
			bad.Namespace, bad.Name = "tenant", "bad"
			bad.Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{Username: *secretKey(tc.secret, "user"), Password: *secretKey(tc.secret, "user")}
			s.services = append(s.services, bad)
			s.reader = refusing{forbidden}
			in, err := s.gather()
			if err != nil {
				t.Fatalf("one object stops all: %v", err)
			}
			for _, m := range in.Monitors {
				if text := fmt.Sprint(m.Err); m.Object.GetName() == "bad" && !hasPrefix(text, tc.want) || m.Object.GetName() != "bad" && m.Err != nil {
					t.Errorf("%s: %s", m.Object.GetName(), text)
				}
			}
			if got := in.Counts[v1.ServiceMonitorKind]; got.Selected != 2 || got.Rejected != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func hasPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && text[:len(prefix)] == prefix
}

// refusing is an API server that returns nothing.
type refusing struct{ err error }

func (r refusing) Object(assets.Ref) (assets.Object, error) { return assets.Object{}, r.err }

// A namespace whose deletion arrives before those of its monitors and rules wakes
// the owners that select them.
func TestNamespaceIsDeletedBeforeItsObjects(t *testing.T) {
	s := newAskingScene(t)
	team := map[string]string{"team": "a"}
	rule, err := selection.Parse("monitoring", "serviceMonitor", &metav1.LabelSelector{MatchLabels: team}, &metav1.LabelSelector{})
	if err != nil {
		t.Fatal(err)
	}
	s.c.index.Set(types.NamespacedName{Namespace: "monitoring", Name: "web"}, selection.Rules{v1.ServiceMonitorKind: rule})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: maps.Clone(team)}}
	s.c.namespaceChanged(informer.Event[*corev1.Namespace]{Action: "delete", Before: namespace})
	s.wakes(t, "the deletion")
}
