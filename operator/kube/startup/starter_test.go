package startup

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A component can start if its resources are installed and may be read in every watched
// namespace.
func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		resources []string // served in v1alpha1; nil: the version is not served
		denied    string
		want      bool
	}{
		"the version is not served":        {nil, "", false},
		"another kind is installed":        {[]string{"prometheusagents"}, "", false},
		"installed and allowed":            {[]string{"scrapeconfigs"}, "", true},
		"one verb is denied":               {[]string{"scrapeconfigs"}, "watch scrapeconfigs in namespace a", false},
		"denied in the second namespace":   {[]string{"scrapeconfigs"}, "list scrapeconfigs in namespace b", false},
		"a namespace that is not of ours":  {[]string{"scrapeconfigs"}, "list scrapeconfigs in namespace c", true},
		"a right that nobody asks for":     {[]string{"scrapeconfigs"}, "get scrapeconfigs in namespace a", true},
		"the kind is one of several there": {[]string{"prometheusagents", "scrapeconfigs"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			kube := forbidding(t, tc.denied)
			if tc.resources != nil {
				serve(kube, "v1alpha1", tc.resources...)
			}
			s := New(kube, scopesOf(t), slog.New(slog.DiscardHandler), NewMissing(slog.New(slog.DiscardHandler)))
			c := &Component{
				Resources:   []schema.GroupVersionResource{resource("v1alpha1", "scrapeconfigs")},
				Permissions: Permissions(group, "scrapeconfigs", []string{"a", "b"}, "list", "watch"),
			}
			c.OnCheck = func(installed bool) {
				if installed != slices.Contains(tc.resources, "scrapeconfigs") {
					t.Errorf("installed: %v", installed)
				}
			}
			ready, err := s.Check(t.Context(), c)
			if forbidden := !tc.want && slices.Contains(tc.resources, "scrapeconfigs"); (c.Forbidden() != "") != forbidden || forbidden && !strings.Contains(c.Forbidden(), tc.denied) {
				t.Errorf("forbidden: %q", c.Forbidden())
			}
			if err != nil || ready != tc.want || len(s.waiting) == 1 == tc.want {
				t.Errorf("ready: %v, %v; %d are waiting", ready, err, len(s.waiting))
			}
		})
	}
}

const group = "monitoring.coreos.com"

func resource(version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
}

// serve adds resources to the discovery of the API server.
func serve(kube *fake.Clientset, version string, names ...string) {
	list := &metav1.APIResourceList{GroupVersion: group + "/" + version}
	for _, name := range names {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	discovery := kube.Discovery().(*fakediscovery.FakeDiscovery)
	discovery.Resources = append(discovery.Resources, list)
}

// monitors are the resources that the controllers of the tests select.
var monitors = []schema.GroupVersionResource{resource("v1", "servicemonitors"), resource("v1", "podmonitors"), resource("v1", "probes")}

// Missing requirements are logged once, and a component starts when they are met.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		allowed, away := false, false
		kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			if away {
				return true, nil, errors.New("no answer")
			}
			review.Status.Allowed = allowed || review.Spec.ResourceAttributes.Verb != "patch"
			return true, review, nil
		})
		var log bytes.Buffer
		scopes := scopesOf(t)
		starter := New(kube, scopes, slog.New(slog.NewTextHandler(&log, nil)), NewMissing(slog.New(slog.DiscardHandler)))
		var began []time.Duration
		start := time.Now()
		ready, err := starter.Check(t.Context(), Controller("agents", resource("v1alpha1", "prometheusagents"), monitors, scopes, func() error {
			began = append(began, time.Since(start))
			return nil
		}))
		if err != nil || ready {
			t.Fatalf("ready: %v, %v", ready, err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			starter.Await(t.Context(), func(f func() error) {
				if err := f(); err != nil {
					t.Error(err)
				}
			})
		}()
		after := func(pause time.Duration, change func()) {
			time.Sleep(pause)
			synctest.Wait()
			kube.Lock() // the fake holds it while it responds
			defer kube.Unlock()
			change()
		}
		after(35*time.Second, func() { serve(kube, "v1alpha1", "prometheusagents") })
		after(10*time.Second, func() { // noticed at 40 s; the monitors are missing
			serve(kube, "v1", "servicemonitors", "podmonitors", "probes")
		})
		after(30*time.Second, func() { away = true })                // noticed at 50 s; a permission is missing
		after(2*time.Minute, func() { allowed, away = true, false }) // no response from 110 s on
		<-done
		if want := []time.Duration{200 * time.Second}; !slices.Equal(began, want) {
			t.Errorf("started after %v, want %v", began, want)
		}
		for text, times := range map[string]int{
			"not installed: prometheusagents monitoring.coreos.com/v1alpha1, servicemonitors monitoring.coreos.com/v1,": 1,
			"not installed: servicemonitors":                 1,
			"no permission to patch prometheusagents/status": 1,
			"controller started":                             1,
			"cannot check for CRDs and permissions":          1,
		} {
			if n := strings.Count(log.String(), text); n != times {
				t.Errorf("%q is logged %d times, want %d:\n%s", text, n, times, &log)
			}
		}
	})
}

// A function that waits for optional permissions runs when they are granted, and the
// missing ones are not logged a second time.
func TestWhenGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		granted := false
		kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			review.Status.Allowed = granted
			return true, review, nil
		})
		var log bytes.Buffer
		s := New(kube, scopesOf(t), slog.New(slog.NewTextHandler(&log, nil)), NewMissing(slog.New(slog.DiscardHandler)))
		if err := s.CheckOptional(t.Context(), []*Optional{PatchPods}); err != nil || !s.Lacks(PatchPods) || s.Lacks(ExpandClaims) {
			t.Fatalf("missing: %v, %v", s.missing, err)
		}
		start, after := time.Now(), time.Duration(0)
		s.WhenGranted(PatchPods, "instant delivery", func() error { after = time.Since(start); return nil })
		time.AfterFunc(90*time.Second, func() {
			kube.Lock() // the fake holds it while it responds
			defer kube.Unlock()
			granted = true
		})
		s.Await(t.Context(), func(f func() error) {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
		if after != 2*time.Minute {
			t.Errorf("started after %s, want 2m", after)
		}
		if n := strings.Count(log.String(), "patch pods"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, &log)
		}
	})
}
