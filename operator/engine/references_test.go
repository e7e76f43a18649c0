package engine

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

var loginRef = assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "login"}

func login() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "login", ResourceVersion: "1"}, Data: map[string][]byte{"user": []byte("ada")}}
}

// versions returns the versions of Secrets, and lets a test act on each lookup.
type versions struct {
	of    map[assets.Ref]string
	asked func(assets.Ref)
}

func (w *versions) Version(ref assets.Ref) (string, bool) {
	if w.asked != nil {
		w.asked(ref)
	}
	return w.of[ref], true
}

// askingScene is a controller whose store of Secrets is controlled by the test.
type askingScene struct {
	*versions
	c     *Controller
	woken chan types.NamespacedName
}

func newAskingScene(t *testing.T) *askingScene {
	t.Helper()
	w := &versions{of: map[assets.Ref]string{loginRef: "1"}}
	s := &askingScene{versions: w, c: unwired(t, named(catalog.ThanosRuler, "ruler")), woken: make(chan types.NamespacedName, 10)}
	s.c.assets = assets.NewCache(fake.NewClientset(login()), w)
	s.c.loop.kind.Reconcile = func(_ context.Context, key types.NamespacedName) (Outcome, error) {
		s.woken <- key
		return Outcome{}, nil
	}
	s.c.loop.kind.Status = func(context.Context, types.NamespacedName, Result, bool) error { return nil }
	s.c.loop.kind.Version = func(types.NamespacedName) (Version, bool) { return Version{}, true }
	return s
}

// referring are inputs with nothing but references.
type referring []assets.Ref

func (r referring) Results() iter.Seq[fragments.Result] {
	return slices.Values[[]fragments.Result](nil)
}
func (r referring) References() iter.Seq[assets.Ref] { return slices.Values(r) }
func (r referring) Desired() (Plan, error)           { return Plan{}, nil }

// wakes waits for the next reconciliation of web.
func (s *askingScene) wakes(t *testing.T, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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

func web(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "team", Name: name}
}

// An event of a Secret finds the workload as soon as the workload reads the Secret, so no later
// change is lost. The same holds for compiled results, of this workload or another.
func TestReferencesAreRememberedBeforeTheyAreRead(t *testing.T) {
	gone := assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "gone"}
	for name, look := range map[string]struct {
		ref assets.Ref
		at  func(referenceReader)
	}{
		"a Secret":             {loginRef, func(a referenceReader) { _, _ = a.Object(loginRef) }},
		"a missing Secret":     {gone, func(a referenceReader) { _, _ = a.Object(gone) }},
		"what was compiled":    {loginRef, func(a referenceReader) { a.current([]assets.Dependency{{Ref: loginRef, Version: "1"}}) }},
		"what is missing then": {gone, func(a referenceReader) { a.current([]assets.Dependency{{Ref: gone}}) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAskingScene(t)
			looks := 0
			s.asked = func(ref assets.Ref) {
				looks++
				if found := s.c.referencing(ref); ref != look.ref || !slices.Contains(found, web("web")) {
					t.Errorf("web looks at %s, and an event about it would find %v", ref, found)
				}
			}
			look.at(s.c.newReferenceReader(t.Context(), s.c.remembered(web("web"))))
			if looks == 0 {
				t.Error("web looked at nothing")
			}
		})
	}
}

// A Secret that changes after it was read and before the end of the reconciliation triggers another
// one, which has the new value.
func TestASecretThatChangesMeanwhile(t *testing.T) {
	for _, event := range []string{"add", "update", "delete"} {
		s := newAskingScene(t)
		s.asked = func(ref assets.Ref) {
			s.asked = nil
			s.of[loginRef] = map[string]string{"add": "1", "update": "2", "delete": ""}[event]
			s.c.assets.Forget(loginRef)
			s.c.trigger("Secret", event, &metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}, s.c.referencing(ref)...)
		}
		state := s.c.remembered(web("web"))
		if _, err := s.c.newReferenceReader(t.Context(), state).Object(loginRef); (err != nil) != (event == "delete") {
			t.Fatal(err)
		}
		s.c.keepReferences(state, referring{loginRef}, nil)
		s.wakes(t, event)
	}
}

func TestReferencesThatAreGone(t *testing.T) {
	s := newAskingScene(t)
	state := s.c.remembered(web("web"))
	if _, err := s.c.newReferenceReader(t.Context(), state).Object(loginRef); err != nil || len(s.c.referencing(loginRef)) != 1 {
		t.Fatal(err)
	}
	s.c.keepReferences(state, referring{loginRef}, nil)
	s.c.keepReferences(state, referring{}, errors.New("it ended early"))
	if len(s.c.referencing(loginRef)) != 1 {
		t.Error("a reconciliation that failed early forgets references")
	}
	s.c.keepReferences(state, referring{}, nil)
	if len(s.c.referencing(loginRef)) != 0 {
		t.Error("a reference that is gone is kept")
	}
}

// An unreadable reference is retried periodically: without a call per reconciliation and without an event.
func TestReferencesAreLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAskingScene(t)
		kube := fake.NewClientset()
		s.c.assets = assets.NewCache(kube, blind{})
		state := s.c.remembered(web("web"))
		for range 5 {
			if _, err := s.c.newReferenceReader(t.Context(), state).Object(loginRef); err == nil {
				t.Fatal("the Secret is there")
			}
			s.c.keepReferences(state, referring{loginRef}, nil)
		}
		if n := len(kube.Actions()); n != 1 {
			t.Errorf("%d calls for a missing Secret in 5 reconciliations", n)
		}
		if err := kube.Tracker().Add(login()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		s.c.recheck()
		s.wakes(t, "the time")
		if _, err := s.c.newReferenceReader(t.Context(), state).Object(loginRef); err != nil {
			t.Error(err)
		}
	})
}

// blind is a watch with a selector: objects that it does not show may exist.
type blind struct{}

func (blind) Version(assets.Ref) (string, bool) { return "", false }

// When permissions are lost, lists and watches break off, and each object is asked for by name, in vain. What was read
// before is used on.
func TestReferencesOutliveTheirWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		var forbidden atomic.Bool
		refuse := func(a clienttesting.Action) (bool, runtime.Object, error) {
			return forbidden.Load(), nil, apierrors.NewForbidden(a.GetResource().GroupResource(), "login", nil)
		}
		events := watch.NewFake()
		about := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: login().ObjectMeta}
		known := runtime.NewScheme()
		if err := metav1.AddMetaToScheme(known); err != nil {
			t.Fatal(err)
		}
		metadata := metadatafake.NewSimpleMetadataClient(known, about)
		metadata.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) {
			if refused, _, err := refuse(clienttesting.NewWatchAction(corev1.SchemeGroupVersion.WithResource("secrets"), "", nil)); refused {
				return true, nil, err
			}
			return true, events, nil
		})
		metadata.PrependReactor("*", "secrets", refuse)
		kube := fake.NewClientset(login())
		kube.PrependReactor("get", "secrets", refuse)
		refs := &references{secrets: informer.NewMetadataStore(metadata, corev1.SchemeGroupVersion.WithResource("secrets"), informer.Watch{
			Poll: &informer.Poll{Every: time.Minute, Names: func(context.Context) ([]types.NamespacedName, error) {
				return []types.NamespacedName{catalog.KeyOf(login())}, nil
			}},
		})}
		s := newAskingScene(t)
		s.c.assets = assets.NewCache(kube, refs)
		if err := referenceChanged(s.c, refs.secrets, assets.Secret); err != nil {
			t.Fatal(err)
		}
		refs.secrets.Run(ctx)
		if err := refs.secrets.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		state := s.c.remembered(web("web"))
		if _, err := s.c.newReferenceReader(t.Context(), state).Object(loginRef); err != nil {
			t.Fatal(err)
		}
		forbidden.Store(true)
		events.Stop()
		time.Sleep(2 * time.Minute) // the watch may not have begun yet, and the next poll is in a minute
		synctest.Wait()
		if _, known := refs.secrets.Get("team", "login"); !known {
			t.Error("the store has lost the Secret")
		}
		if o, err := s.c.newReferenceReader(t.Context(), state).Object(loginRef); err != nil || string(o.Values["user"]) != "ada" {
			t.Errorf("%v, %v", o, err)
		}
	})
}

// If the deletion of a namespace arrives before those of its monitors and rules, the workloads that
// select them are woken.
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
