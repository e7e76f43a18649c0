package main

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
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// TestScrapeConfigs: the kind is used only where it is installed and may
// be read in every watched namespace.
func TestScrapeConfigs(t *testing.T) {
	for name, tc := range map[string]struct {
		resources []string // of v1alpha1; nil when the version is not served
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
				list := &metav1.APIResourceList{GroupVersion: "monitoring.coreos.com/v1alpha1"}
				for _, r := range tc.resources {
					list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
				}
				kube.Discovery().(*fakediscovery.FakeDiscovery).Resources = []*metav1.APIResourceList{list}
			}
			namespaces, err := informer.NewNamespaces([]string{"a", "b"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			lacking, err := scrapeConfigs(namespaces).missing(t.Context(), kube)
			if err != nil || (lacking == nil) != tc.want {
				t.Errorf("missing: %v, %v", lacking, err)
			}
		})
	}
}

// TestAwaitParts: what is missing is told once, and a part starts when it is there.
func TestAwaitParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		discovery := kube.Discovery().(*fakediscovery.FakeDiscovery)
		allowed, away := false, false
		kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			if away {
				return true, nil, errors.New("no answer")
			}
			review.Status.Allowed = allowed || review.Spec.ResourceAttributes.Verb != "patch"
			return true, review, nil
		})
		everywhere, err := informer.NewNamespaces(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		var began []time.Duration
		start := time.Now()
		p := ownersOf(prometheus.Agents, prometheus.Scopes{Instances: everywhere, Configs: everywhere, References: everywhere})
		p.start = func() error { began = append(began, time.Since(start)); return nil }
		lacking, err := p.missing(t.Context(), kube)
		if err != nil || lacking == nil {
			t.Fatalf("missing: %v, %v", lacking, err)
		}
		p.warn(logger, lacking)
		done := make(chan struct{})
		go func() {
			defer close(done)
			awaitParts(t.Context(), []*part{p}, kube, logger, func(f func() error) {
				if err := f(); err != nil {
					t.Error(err)
				}
			})
		}()
		after := func(pause time.Duration, change func()) {
			time.Sleep(pause)
			synctest.Wait()
			kube.Lock() // which the fake holds while it answers
			defer kube.Unlock()
			change()
		}
		after(35*time.Second, func() {
			discovery.Resources = []*metav1.APIResourceList{{GroupVersion: "monitoring.coreos.com/v1alpha1", APIResources: []metav1.APIResource{{Name: "prometheusagents"}}}}
		})
		after(10*time.Second, func() { // found at 40 s; the monitors are not there
			discovery.Resources = append(discovery.Resources, &metav1.APIResourceList{
				GroupVersion: "monitoring.coreos.com/v1", APIResources: []metav1.APIResource{{Name: "servicemonitors"}, {Name: "podmonitors"}, {Name: "probes"}},
			})
		})
		after(30*time.Second, func() { away = true })                // found, without a right, at 50 s
		after(2*time.Minute, func() { allowed, away = true, false }) // not answered from 110 s on
		<-done
		if want := []time.Duration{200 * time.Second}; !slices.Equal(began, want) {
			t.Errorf("started after %v, want %v", began, want)
		}
		for text, times := range map[string]int{"not installed: prometheusagents monitoring.coreos.com/v1alpha1, servicemonitors monitoring.coreos.com/v1,": 1, "not installed: servicemonitors": 1, "no permission to patch prometheusagents/status": 1, "controller started": 1, "cannot check for CRDs and permissions": 1} {
			if n := strings.Count(log.String(), text); n != times {
				t.Errorf("%q is told %d times, want %d:\n%s", text, n, times, &log)
			}
		}
	})
}
